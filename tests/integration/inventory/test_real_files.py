# SPDX-License-Identifier: Apache-2.0
"""PyTorch v2.6.0's own test_torchinductor.py and its consumers; docs/inventory.md has the figures.

`make test-inventory-real` fetches them and runs these; otherwise they skip aloud.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from bench_runner.cli.inventory.manifest import default_cache
from bench_runner.inventory.audit import audit
from bench_runner.inventory.diff import diff
from bench_runner.inventory.discovery import Discovery
from bench_runner.inventory.findings import Finding
from bench_runner.inventory.manifest import make_manifest, resolve_paths
from bench_runner.inventory.profile import load_profile
from bench_runner.inventory.records import Manifest
from bench_runner.inventory.shadow import make_shadow

sys.path.insert(0, str(Path(__file__).parents[2] / "unit" / "inventory"))
from bench import Bench, verdict
from mutations import Mutation
from real_mutations import DAMAGE, HARMLESS

pytestmark = pytest.mark.skipif(
    not os.environ.get("BENCH_INVENTORY_REAL_TESTS"),
    reason="PyTorch's own files are fetched and looked at by `make test-inventory-real` only",
)

FOLDER = Path(
    os.environ.get("BENCH_INVENTORY_REAL")
    or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    / "bench-runner/inventory-real"
)
ROOT = FOLDER / "source" / "test"
PYTHON = str(FOLDER / "venv" / "bin" / "python")
TARGET = "inductor/test_torchinductor.py"
CODEGEN = "inductor/test_torchinductor_codegen_dynamic_shapes.py"
MENTIONS = "inductor/test_cudagraph_trees.py"
"""Names the target in a comment and does not import it."""
CPP_WRAPPERS = ("inductor/test_cpu_cpp_wrapper.py", "inductor/test_gpu_cpp_wrapper.py")


def discovery(platform: str) -> Discovery:
    return Discovery(
        root=ROOT, python=PYTHON, profile=load_profile(platform), cache=default_cache(), jobs=2
    )


@cache
def manifest(platform: str) -> Manifest:
    """The target and all that import it; kept by fingerprint, so that a second run is quick."""
    names = [*resolve_paths([Path(TARGET)], ROOT, with_consumers=True), MENTIONS]
    return make_manifest(
        names, discovery(platform), slow_tests=ROOT / "slow_tests.json"
    ).model_copy(update={"settings": {"consumers": True}})


def of_kind(findings: list[Finding], kind: str) -> list[Finding]:
    return [item for item in findings if item.kind == kind]


@pytest.mark.parametrize(
    ("platform", "total", "target"), [("cpu", 10_148, 780), ("cuda-sim", 16_572, 1_628)]
)
def test_every_test_is_found_as_pytest_finds_it(platform, total, target):
    made = manifest(platform)
    assert len(made.files) == 27
    assert len(made.tests) == total
    assert len(made.files[TARGET].tests) == target
    for found in made.files.values():
        assert found.import_failure is None or found.import_failure.skipped
        assert found.pytest_compared
        assert not found.loader_only
        assert not found.pytest_only


def test_a_second_look_finds_nothing_and_costs_nothing():
    before = manifest("cpu")
    again = discovery("cpu")
    after = make_manifest(list(before.files), again, slow_tests=ROOT / "slow_tests.json")
    assert again.misses == 0
    assert not diff(before, after).findings


def test_registering_a_back_end_loses_tests():
    findings = diff(manifest("cpu"), manifest("privateuse1")).findings
    lost = {
        (item.kind, item.file): len(item.tests)
        for item in findings
        if item.kind in ("file-emptied", "import-broken")
    }
    assert lost == {
        ("file-emptied", "inductor/test_cpu_select_algorithm.py"): 1_337,
        ("import-broken", CPP_WRAPPERS[0]): 520,
    }


def test_templates_with_two_identities():
    doubled = of_kind(audit(manifest("cuda-sim")), "double-identity")
    assert {item.file for item in doubled if item.subject == "CommonTemplate"} >= set(CPP_WRAPPERS)


def test_expected_failures_that_do_not_follow_the_device():
    parity = [
        item.detail
        for item in of_kind(
            list(diff(manifest("cuda-sim"), manifest("npu-sim")).findings), "xfail-parity"
        )
        if item.file == CODEGEN and item.subject == "cuda -> npu"
    ]
    assert parity == ["cuda: 83 expected failures, 41 skips; npu: 8 expected failures, 10 skips"]


def test_dead_keys():
    findings = audit(manifest("cuda-sim"))
    assert Counter(item.file for item in of_kind(findings, "dead-key"))[CODEGEN] == 3
    assert len(of_kind(findings, "dead-slow-key")) >= 1


def test_the_shadow_closes():
    shadow = make_shadow(TARGET, discovery("cuda-sim"))
    assert shadow.closes
    copied = {item.target: (item.tests, item.source_methods) for item in shadow.closures}
    assert copied["CpuTests"] == copied["GPUTests"] == (733, 590)
    assert shadow.loader.before == shadow.loader.after == 1_628


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    work = tmp_path_factory.mktemp("mutations")
    return Bench(ROOT, work, load_profile("cuda-sim"), PYTHON, work / "cache")


@pytest.mark.parametrize("mutation", [*DAMAGE, *HARMLESS], ids=lambda m: m.name)
def test_each_edit_is_named_for_what_it_is(bench: Bench, mutation: Mutation) -> None:
    assert verdict(mutation, bench.findings(mutation)) == ""
