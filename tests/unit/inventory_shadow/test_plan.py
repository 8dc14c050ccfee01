# SPDX-License-Identifier: Apache-2.0
"""What a plan calls safe, the patch that it proves on a copy, and the adapter that it writes."""

from __future__ import annotations

import subprocess
import sys

import pytest
import yaml
from click.testing import CliRunner

from bench_runner.cli.inventory.gate import gate
from bench_runner.cli.inventory.manifest import manifest
from bench_runner.cli.inventory.plan import plan
from bench_runner.errors import UsageFault
from bench_runner.inventory.patch import UnprovenPatchError, edited, prove
from bench_runner.inventory.plan import make_plan
from bench_runner.inventory.shadow import make_shadow

MORE = '''
try:
    from labels import HardwareClassification as _unused
except ImportError:
    pass

if HAS_GPU:
    class TestHardCoded(unittest.TestCase):
        """Names one vendor's device, and needs none in particular."""

        def test_keyword(self):
            torch.zeros(2, device="cuda")

        def test_method(self):
            torch.zeros(2).to('cuda:0')

    class TestBound(unittest.TestCase):
        def test_stream(self):
            torch.zeros(2, device="cuda")
            torch.cuda.synchronize()

    class TestTaken(unittest.TestCase):
        def test_it(self):
            self.assertTrue(GPU_TYPE)

    class TestMixed(unittest.TestCase):
        def test_with(self):
            import triton
            self.assertTrue(triton and GPU_TYPE)

        def test_without(self):
            self.assertTrue(GPU_TYPE)
'''
LABELS = """
from enum import Enum
class HardwareClassification(Enum):
    GENERIC = "generic"
    ACCELERATOR = "accelerator"
    CPU = "cpu"
    CUDA = "cuda"
"""


@pytest.fixture
def suite(small):
    small.file.write_text(small.file.read_text() + MORE)
    (small.folder / "labels.py").write_text(LABELS)
    (small.folder / "test_consumer.py").write_text(
        "import unittest\nfrom test_small import TestTaken\n"
        "class TestOther(unittest.TestCase):\n    base = TestTaken\n    def test_it(self): pass\n"
    )
    return small


@pytest.fixture
def made(suite):
    discovery = suite.discovery()
    return make_plan(make_shadow("test_small.py", discovery), discovery)


def _arguments(suite):
    return [str(suite.file), "--root", str(suite.folder), "--cache", str(suite.cache)]


def test_a_class_is_safe_or_has_reasons(made):
    verdicts = {item.name: (item.label, " / ".join(item.why)) for item in made.classes}
    assert {name: label for name, (label, _) in verdicts.items() if label} == {
        "TestOnGpu": "ACCELERATOR",
        "TestNoDevice": "GENERIC",
        "TestHardCoded": "ACCELERATOR",
        "TestBound": "CUDA",
    }
    assert "filled by the copier" in verdicts["GpuTests"][1]
    assert "no single label is right" in verdicts["CpuTests"][1]
    assert verdicts["TestTaken"][1] == "used by 1 other files, first test_consumer.py"
    assert verdicts["TestMixed"][1] == (
        "mixes capabilities, which no label can hide: 1 of 2 need lib.triton"
    )


def test_devices_go_where_nothing_binds_the_test_to_them(made):
    assert {(e.method, e.old, e.new) for e in made.edits} == {
        ("TestHardCoded.test_keyword", "'cuda'", "GPU_TYPE"),
        ("TestHardCoded.test_method", "'cuda:0'", 'f"{GPU_TYPE}:0"'),
    }
    kept = {item.method: item.why for item in made.kept}
    assert "part of the generation chain" in kept["Template.test_literal"]
    assert "calls the module of one device" in kept["TestBound.test_stream"]


def test_the_patch_applies_passes_the_gates_and_is_what_the_approvals_say(suite, tmp_path):
    patch, approved = tmp_path / "p.diff", tmp_path / "approved.yaml"
    runner = CliRunner()
    arguments = [*_arguments(suite), "--labels-from", "labels"]
    common = ["--platform", "cpu", "--root", str(suite.folder), "--cache", str(suite.cache)]
    look = [str(suite.file), "--consumers", "--framework", "unittest", *common]
    before, after = tmp_path / "before.json", tmp_path / "after.json"
    assert runner.invoke(manifest, [*look, "-o", str(before)]).exit_code == 0
    done = runner.invoke(plan, [*arguments, "--patch", str(patch), "--approved", str(approved)])
    assert done.exit_code == 0, done.output
    assert "4 labels, 2 devices; a copy with it passes 8 gates over 2 files" in done.stderr
    subprocess.run(["git", "apply", str(patch)], cwd=suite.folder, check=True)
    text = suite.file.read_text()
    assert "hw_classification = HardwareClassification.GENERIC\n" in text
    assert "from labels import HardwareClassification\n" in text
    assert "torch.zeros(2, device=GPU_TYPE)" in text
    assert runner.invoke(manifest, [*look, "-o", str(after)]).exit_code == 0
    judge = [str(after), "--baseline", str(before)]
    passed = runner.invoke(gate, [*judge, "--approved", str(approved)])
    assert passed.exit_code == 0, passed.output
    fewer = yaml.safe_load(approved.read_text())
    fewer["changes"].pop()
    approved.write_text(yaml.safe_dump(fewer))
    assert runner.invoke(gate, [*judge, "--approved", str(approved)]).exit_code == 1


def test_labels_are_guarded_where_the_release_has_none(suite, made):
    text = edited(suite.file.read_text(), made, "labels_of_tomorrow", guarded=True)
    assert "    HardwareClassification = None\n" in text
    assert prove(made, text, suite.discovery()).report.passed


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("self.assertEqual(1 + 1, 2)", "self.assertEqual(1 + 2, 3)"),
        ("def test_arithmetic", "def test_sums"),
        ("copy_tests(Template, GpuTests, GPU_TYPE)", 'copy_tests(Template, GpuTests, "gpu")'),
    ],
)
def test_an_edit_that_does_more_is_refused(suite, made, old, new):
    text = edited(suite.file.read_text(), made, "labels")
    assert text.count(old) == 1
    with pytest.raises(UnprovenPatchError, match="does not pass the gates"):
        prove(made, text.replace(old, new), suite.discovery())


def test_an_edit_that_did_not_happen_is_refused(suite, made):
    text = edited(suite.file.read_text(), made, "labels")
    lines = [line for line in text.splitlines(True) if "Classification.GENERIC" not in line]
    with pytest.raises(UnprovenPatchError, match="TestNoDevice did not happen"):
        prove(made, "".join(lines), suite.discovery())


ADAPTED = """
import json, sys, unittest
import torch
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend
_setup_privateuseone_for_python_backend("newcomer")
torch.newcomer.capabilities = lambda: {answers}
sys.path.insert(0, {folder!r})
import test_adapter
loader = unittest.TestLoader()
result = unittest.TestResult()
suite = loader.loadTestsFromModule(test_adapter)
suite.run(result)
print(json.dumps({{
    "names": sorted(loader.getTestCaseNames(test_adapter.PrivateUse1GpuTests)),
    "run": result.testsRun,
    "skipped": sorted(str(why) for _, why in result.skipped),
    "wrong": [text.splitlines()[-1] for _, text in [*result.failures, *result.errors]],
}}))
"""


def _adapted(suite, tmp_path, answers, device="newcomer"):
    adapter = tmp_path / "test_adapter.py"
    done = CliRunner().invoke(plan, [*_arguments(suite), "--adapter", str(adapter)])
    assert done.exit_code == 0, done.output
    assert "test_plain" not in adapter.read_text()
    suite.device("cuda", present=False)
    code = ADAPTED.format(answers=answers, folder=str(tmp_path))
    return subprocess.run(
        [sys.executable, "-B", "-c", code], capture_output=True, text=True, check=False
    )


def test_the_adapter_runs_the_template_on_a_registered_back_end(suite, tmp_path):
    suite.edit("self.assertTrue(triton)", "raise AssertionError('ran without Triton')")
    done = _adapted(suite, tmp_path, "{'lib.triton': False, 'attention.flash_attention': True}")
    assert done.returncode == 0, done.stderr
    found = yaml.safe_load(done.stdout)
    assert found["names"] == [
        "test_attention_newcomer",
        "test_many_n_1_newcomer",
        "test_many_n_2_newcomer",
        "test_many_n_3_newcomer",
        "test_needs_gpu_newcomer",
        "test_plain_newcomer",
        "test_triton_newcomer",
    ]
    assert found["skipped"] == ["the back end says that it lacks lib.triton"]
    assert (found["run"], found["wrong"]) == (7, [])


def test_the_adapter_takes_a_new_method_without_being_written_again(suite, tmp_path):
    suite.edit(
        "    def test_plain(self):", "    def test_newer(self): pass\n\n    def test_plain(self):"
    )
    done = _adapted(suite, tmp_path, "{'lib.triton': True, 'attention.flash_attention': True}")
    assert "test_newer_newcomer" in yaml.safe_load(done.stdout)["names"]


def test_an_undeclared_capability_is_an_error_that_names_the_provider(suite, tmp_path):
    done = _adapted(suite, tmp_path, "{'attention.flash_attention': True}")
    (wrong,) = yaml.safe_load(done.stdout)["wrong"]
    assert "capabilities() does not declare 'lib.triton'" in wrong


def test_a_file_without_an_accelerator_has_no_adapter(small):
    small.edit("    copy_tests(Template, GpuTests, GPU_TYPE)\n", "")
    arguments = [*_arguments(small), "--adapter", str(small.folder / "a.py")]
    done = CliRunner().invoke(plan, arguments)
    assert isinstance(done.exception, UsageFault)
    assert "copies no template into a class that is given its accelerator" in str(done.exception)
