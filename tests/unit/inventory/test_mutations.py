# SPDX-License-Identifier: Apache-2.0
"""Every damage to the small suite is caught with the right finding and no other; no false alarm."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from bench import Bench, verdict  # noqa: E402
from mutation_table import held, table  # noqa: E402
from mutations import Mutation  # noqa: E402
from small_mutations import DAMAGE, HARMLESS  # noqa: E402

from bench_runner.inventory.profile import load_profile  # noqa: E402

SUITE = HERE / "suite"


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    work = tmp_path_factory.mktemp("mutations")
    profile = load_profile(str(SUITE / "gpu.yaml"))
    return Bench(SUITE, work, profile, sys.executable, work / "cache")


@pytest.mark.parametrize("mutation", DAMAGE, ids=lambda m: m.name)
def test_damage_is_named(bench: Bench, mutation: Mutation) -> None:
    assert verdict(mutation, bench.findings(mutation)) == ""


@pytest.mark.parametrize("mutation", HARMLESS, ids=lambda m: m.name)
def test_harmless_edits_cause_no_finding(bench: Bench, mutation: Mutation) -> None:
    assert verdict(mutation, bench.findings(mutation)) == ""


def test_the_document_has_this_bench() -> None:
    assert held() == table(), "run tests/unit/inventory/mutation_table.py"


def test_the_bench_is_as_large_as_it_claims() -> None:
    assert len({m.name for m in DAMAGE}) >= 25
    assert len({m.name for m in HARMLESS}) >= 20
