# SPDX-License-Identifier: Apache-2.0
"""What a manifest says of the small suite, and when it refuses to be made."""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from bench_runner.cli.inventory.manifest import manifest as command
from bench_runner.errors import UsageFault
from bench_runner.inventory.audit import audit
from bench_runner.inventory.consumers import importers
from bench_runner.inventory.diff import diff
from bench_runner.inventory.manifest import read_manifest
from bench_runner.inventory.profile import builtin, load_profile
from bench_runner.inventory.records import DiscoveredTest, FileInventory, Manifest
from bench_runner.inventory.render import html, markdown

SUITE = Path(__file__).parent / "suite"
CORE = "unit/test_core.py"
DYNAMIC = "unit/test_dynamic.py"
WRAPPER = "unit/test_wrapper.py"


def run(root: Path, output: Path, *arguments: str, platform: str = "cpu") -> Result:
    fixed = ["--root", str(root), "--platform", platform, "-o", str(output)]
    cache = ["--cache", str(output.parent / "cache"), "--jobs", "1"]
    return CliRunner().invoke(command, [*arguments, *fixed, *cache], catch_exceptions=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("manifests")


def whole(folder: Path, platform: str) -> Manifest:
    output = folder / f"{Path(platform).stem}.json"
    result = run(
        SUITE,
        output,
        str(SUITE / CORE),
        "--consumers",
        "--slow-tests",
        str(SUITE / "slow_tests.json"),
        platform=platform,
    )
    assert result.exit_code == 0, result.output
    return read_manifest(output)


@pytest.fixture(scope="module")
def cpu(folder: Path) -> Manifest:
    return whole(folder, "cpu")


@pytest.fixture(scope="module")
def gpu(folder: Path) -> Manifest:
    return whole(folder, str(SUITE / "gpu.yaml"))


@pytest.fixture(scope="module")
def npu(folder: Path) -> Manifest:
    return whole(folder, str(SUITE / "npu.yaml"))


def classes(inventory: FileInventory) -> Counter[str]:
    return Counter(test.found_as for test in inventory.tests)


def one(manifest: Manifest, tail: str) -> DiscoveredTest:
    (found,) = [test for test in manifest.tests if test.id.endswith(f"::{tail}")]
    return found


def test_a_platform_decides_what_there_is(cpu: Manifest, gpu: Manifest) -> None:
    assert classes(cpu.files[CORE]) == {"CpuTests": 18, "PlainTest": 2, "SweepCpuTest": 4}
    # The capability of the GPU adds a dtype to the tests of the CPU.
    assert classes(gpu.files[CORE]) == {
        "CpuTests": 19,
        "GPUTests": 19,
        "PlainTest": 2,
        "SweepCpuTest": 4,
    }


def test_consumers_are_found_by_syntax(cpu: Manifest) -> None:
    assert sorted(Path(path).stem for path in cpu.files) == [
        "test_core",
        "test_dynamic",
        "test_helpers_only",
        "test_transform",
        "test_wrapper",
    ]
    taken = {item.target: item.names for item in cpu.files[DYNAMIC].consumes}
    assert taken[CORE] == ("CommonTemplate", "Failure", "TestCase", "check_model", "copy_tests")


def test_an_environment_in_the_suite_has_no_consumers(tmp_path: Path) -> None:
    (tmp_path / "test_core.py").write_text("")
    for name in ("env/lib", ".hidden", "more"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "test_user.py").write_text("import test_core\n")
    (tmp_path / "env" / "pyvenv.cfg").write_text("")
    assert importers([tmp_path / "test_core.py"], tmp_path) == [tmp_path / "more" / "test_user.py"]


def test_unittest_and_pytest_agree(gpu: Manifest) -> None:
    for inventory in gpu.files.values():
        assert inventory.pytest_compared
        assert not inventory.loader_only
        assert not inventory.pytest_only
    assert {test.found_by for test in gpu.tests} == {("unittest", "pytest")}


def test_every_layer_is_there_in_order(cpu: Manifest) -> None:
    test = one(cpu, "CpuTests::test_layers_cpu")
    assert [layer.name.partition(".")[0] for layer in test.layers] == [
        "copy_tests",
        "skip_device_if",
        "skip_if_strict",
    ]
    # The copy's own __wrapped__ was overwritten by the original's.
    assert [layer.hidden for layer in test.layers] == [True, False, False]
    assert test.layers[1].captures == {"device": "'cuda'", "reason": "'broken on cuda'"}
    assert test.source.qualname == "CommonTemplate.test_layers"
    assert test.source.decorators == ("skip_cuda_if(True, 'broken on cuda')", "skip_if_strict")
    lines = (SUITE / CORE).read_text().splitlines()
    assert lines[test.source.line - 1].strip() == "def test_layers(self):"


def test_marks_have_reasons(cpu: Manifest) -> None:
    def marks(tail: str) -> set[tuple[str, str]]:
        return {(mark.kind, mark.reason) for mark in one(cpu, tail).marks}

    assert ("skip", "not yet") in marks("CpuTests::test_skipped_cpu")
    assert ("skip", "requires gpu") in marks("CpuTests::test_needs_gpu_cpu")
    assert ("expectedFailure", "") in marks("CpuTests::test_known_bad_cpu")
    assert ("slow", "") in marks("CpuTests::test_long_cpu")
    # Skips at run time only: no skip metadata tells of it.
    assert ("gate", "broken on cuda") in marks("CpuTests::test_layers_cpu")
    assert ("expectedFailure", "") in marks("InterpretedTests::test_interpreted_cpu")


def test_parameters_come_from_variants_and_closures(cpu: Manifest) -> None:
    assert one(cpu, "CpuTests::test_product_x_2_y_3_cpu").parameters == {"x": "2", "y": "3"}
    assert one(cpu, "SweepCpuTest::test_cpu_dense_strided").parameters == {
        "first": "'dense'",
        "second": "'strided'",
    }


def test_runner_device_and_suffix_are_kept_apart(npu: Manifest) -> None:
    device = one(npu, "GPUTests::test_add_npu").device
    assert (device.runner, device.runner_device) == ("check_model_gpu", "npu")
    assert (device.device, device.suffix, device.named) == ("npu", "npu", "npu")
    wrapped = one(npu, "WrapperTests::test_add_cpu_wrapped").device
    assert (wrapped.device, wrapped.suffix, wrapped.named) == ("cpu", "wrapped", "cpu")


def test_standing_findings_of_one_manifest(cpu: Manifest, npu: Manifest) -> None:
    found = {(item.kind, item.subject) for item in audit(cpu)}
    assert found == {
        ("dead-slow-key", "test_vanished_cpu (__main__.CpuTests)"),
        ("dead-key", "failures['test_gone_dynamic']"),
        ("double-identity", "CommonTemplate"),
        ("double-identity", "CpuTests"),
    }
    parity = [item for item in audit(npu) if item.kind == "xfail-parity"]
    assert [item.subject for item in parity] == ["failures: npu"]


def test_expected_failures_do_not_follow_a_new_suffix(gpu: Manifest, npu: Manifest) -> None:
    parity = {
        item.file: item.detail
        for item in diff(gpu, npu).findings
        if item.kind == "xfail-parity" and item.subject == "cuda -> npu"
    }
    assert parity[DYNAMIC] == (
        "cuda: 3 expected failures, 1 skips; npu: 1 expected failures, 1 skips"
    )


def test_a_second_run_finds_nothing_and_costs_nothing(folder: Path, cpu: Manifest) -> None:
    output = folder / "again.json"
    result = run(SUITE, output, str(SUITE / CORE), "--consumers")
    assert "0 probes run, 6 answers kept" in result.output
    fresh = run(SUITE, output, str(SUITE / CORE), "--consumers", "--no-cache")
    assert "6 probes run, 0 answers kept" in fresh.output
    assert not diff(cpu, read_manifest(output)).findings


def test_pages_name_each_finding(gpu: Manifest, npu: Manifest) -> None:
    difference = diff(gpu, npu)
    for text in (markdown(difference), html(difference)):
        for item in difference.findings:
            assert item.key in text
        assert "cuda -&gt; npu" in text or "cuda -> npu" in text
    assert "nothing differs" in html(diff(gpu, gpu))


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copytree(SUITE, tmp_path / "suite", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "suite"


def test_an_edit_of_a_neighbour_is_noticed(copy: Path, tmp_path: Path) -> None:
    output = tmp_path / "m.json"
    arguments = (str(copy / CORE), "--framework", "unittest")
    run(copy, output, *arguments)
    hardware = copy / "hardware.py"
    hardware.write_text(hardware.read_text().replace('os.environ.get("SUITE_DEVICE")', "'xpu'"))
    assert "1 probes run" in run(copy, output, *arguments).output
    assert "GPUTests" in classes(read_manifest(output).files[CORE])


def test_a_module_that_a_suite_writes_when_it_is_imported_is_no_reason_to_look_again(
    copy: Path, tmp_path: Path
) -> None:
    core = copy / CORE
    core.write_text(
        "import importlib, pathlib, sys, tempfile\nsys.path.append(tempfile.mkdtemp())\n"
        "pathlib.Path(sys.path[-1], 'written.py').write_text('')\n"
        "importlib.import_module('written')\n"
        + core.read_text().replace("from __future__ import annotations\n", "")
    )
    arguments = (str(core), "--framework", "unittest")
    assert "1 probes run" in run(copy, tmp_path / "m.json", *arguments).output
    assert "0 probes run" in run(copy, tmp_path / "m.json", *arguments).output


def test_an_import_error_is_a_record(copy: Path, tmp_path: Path) -> None:
    (copy / CORE).write_text((copy / CORE).read_text().replace("def check_model(", "def check("))
    output = tmp_path / "m.json"
    result = run(copy, output, str(copy / "unit/test_helpers_only.py"))
    assert result.exit_code == 1
    failure = read_manifest(output).files["unit/test_helpers_only.py"].import_failure
    assert failure is not None
    assert failure.type == "NameError"
    assert failure.at.startswith(CORE)
    assert str(copy) not in output.read_text()


def test_no_tests_is_no_success(copy: Path, tmp_path: Path) -> None:
    path = copy / "unit" / "test_empty.py"
    path.write_text("VALUE = 1\n")
    output = tmp_path / "m.json"
    result = run(copy, output, str(path))
    assert result.exit_code == 1
    assert "unit/test_empty.py has no test on cpu" in result.output
    assert run(copy, output, str(path), "--empty-ok", "unit/*").exit_code == 0
    path.write_text("import unittest\nraise unittest.SkipTest('needs a moon')\n")
    assert "skips itself: needs a moon" in run(copy, output, str(path)).output


def test_source_and_packages_that_do_not_fit_are_refused(copy: Path, tmp_path: Path) -> None:
    path = copy / "unit" / "test_newer.py"
    path.write_text("import unittest\nfrom unittest.mock import patch, teleport\n")
    result = run(copy, tmp_path / "m.json", str(path))
    assert isinstance(result.exception, UsageFault)
    assert "test_newer.py:2 asks for unittest.mock.teleport" in str(result.exception)
    assert not (tmp_path / "m.json").exists()


def test_plain_pytest_functions_have_their_own_records(tmp_path: Path) -> None:
    root = tmp_path / "plain"
    root.mkdir()
    (root / "test_plain.py").write_text(
        "import pytest\n\n\n"
        "@pytest.mark.parametrize('n', [1, 2])\n"
        "@pytest.mark.skipif(False, reason='never')\n"
        "def test_number(n):\n    assert n\n\n\n"
        "class TestGroup:\n    @pytest.mark.xfail(reason='bad')\n"
        "    def test_bad(self):\n        assert False\n"
    )
    output = tmp_path / "m.json"
    result = run(root, output, str(root), "--framework", "pytest")
    assert result.exit_code == 0, result.output
    tests = {test.id: test for test in read_manifest(output).tests}
    assert sorted(tests) == [
        "test_plain.py::TestGroup::test_bad",
        "test_plain.py::test_number[1]",
        "test_plain.py::test_number[2]",
    ]
    number = tests["test_plain.py::test_number[2]"]
    assert (number.base_name, number.parameters) == ("test_number", {"n": "2"})
    assert ("skipif", "never") in {(mark.kind, mark.reason) for mark in number.marks}
    bad = tests["test_plain.py::TestGroup::test_bad"]
    assert ("xfail", "bad") in {(mark.kind, mark.reason) for mark in bad.marks}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("steps: [", "not YAML"),
        ("name: x", "Field required"),
        (
            "{schema_version: bench-runner.inventory-profile/v1, name: x, device: cpu, "
            "simulated: true, steps: [{fly: high}]}",
            "a step needs exactly one of",
        ),
        (
            "{schema_version: bench-runner.inventory-profile/v1, name: x, device: cpu, "
            "simulated: false, steps: [{set: 'a:b', value: 1}]}",
            "a profile that patches is simulated",
        ),
    ],
)
def test_a_profile_that_is_none_is_refused(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "p.yaml"
    path.write_text(text)
    with pytest.raises(UsageFault, match=complaint):
        load_profile(str(path))


def test_builtin_profiles_can_be_read() -> None:
    assert {"cpu", "cuda", "cuda-sim", "npu-sim", "privateuse1"} <= set(builtin())
    for name in builtin():
        assert load_profile(name).name == name


def test_a_profile_step_without_target_names_itself(copy: Path, tmp_path: Path) -> None:
    path = tmp_path / "p.yaml"
    path.write_text(
        "{schema_version: bench-runner.inventory-profile/v1, name: x, device: cpu, "
        "simulated: true, steps: [{returns: 'os.path:teleport', value: 1}]}"
    )
    result = run(copy, tmp_path / "m.json", str(copy / CORE), platform=str(path))
    assert isinstance(result.exception, UsageFault)
    assert "os.path:teleport does not exist" in str(result.exception)


def test_what_a_profile_patches_is_in_the_manifest(copy: Path, tmp_path: Path) -> None:
    path = tmp_path / "p.yaml"
    path.write_text(
        "{schema_version: bench-runner.inventory-profile/v1, name: x, device: cpu, "
        "simulated: true, steps: [{returns: 'platform:machine', value: moon}, "
        "{set: 'os:nothing', value: 1, optional: true}]}"
    )
    output = tmp_path / "m.json"
    run(copy, output, str(copy / CORE), platform=str(path))
    patches = read_manifest(output).platform.patches
    assert [(p.step, p.applied) for p in patches] == [
        ("returns platform:machine, value moon", True),
        ("set os:nothing, value 1", False),
    ]


def test_paths_are_named_from_here_or_from_the_root(tmp_path: Path) -> None:
    made = run(SUITE, tmp_path / "m.json", CORE, "--framework", "unittest")
    assert made.exit_code == 0, made.output
    absent = run(SUITE, tmp_path / "m.json", "unit/test_absent.py")
    assert isinstance(absent.exception, UsageFault)
    assert "neither here nor under the suite's root" in str(absent.exception)
    table = run(SUITE, tmp_path / "m.json", "slow_tests.json")
    assert "is no Python file" in str(table.exception)


def test_paths_outside_the_root_are_refused(copy: Path, tmp_path: Path) -> None:
    result = run(copy, tmp_path / "m.json", str(Path(sys.executable)))
    assert isinstance(result.exception, UsageFault)
    assert "outside the suite's root" in str(result.exception)
