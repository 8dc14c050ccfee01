# SPDX-License-Identifier: Apache-2.0
"""Hardware classes and capabilities in real sessions, with a back end that registers late."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from flag_gems.runtime import capability, device
from flag_gems.testing.hardware import HardwareClassification, classification_of

LABELLED = """
import unittest
from flag_gems.testing.hardware import HardwareClassification

hw_classification = HardwareClassification.GENERIC

def test_of_the_module(): pass

class TestOfAClass:
    hw_classification = HardwareClassification.ACCELERATOR
    def test_method(self): pass

class TestInherits(TestOfAClass, unittest.TestCase):
    def test_other(self): pass

class TestCuda:
    hw_classification = HardwareClassification.CUDA
    def test_method(self): raise AssertionError("ran where there is no such device")
"""

LATE = """
import pytest, torch, flag_gems
from flag_gems.runtime import capability
from flag_gems.testing.hardware import HardwareClassification, requires_capabilities
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

hw_classification = HardwareClassification.ACCELERATOR
ASKED = []

def lacks_bf16():
    ASKED.append("bf16")
    return False

@pytest.fixture(scope="session", autouse=True)
def late_back_end():
    assert flag_gems.device == "cpu"
    _setup_privateuseone_for_python_backend("latecomer")
    capability.provide("latecomer", "latecomer_package",
                       {"dtype.bf16": lacks_bf16, "dtype.fp64": lambda: True})
    yield
    capability.withdraw("latecomer")

def test_runs_on_it():
    assert ASKED == []
    assert (flag_gems.device, flag_gems.vendor_name) == ("latecomer", "privateuse1")
    assert flag_gems.runtime.torch_device_fn is torch.latecomer
    assert flag_gems.runtime.launcher.torch_device_fn is torch.latecomer
    assert flag_gems.runtime.device.dispatch_key == "PrivateUse1"

@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
def test_dtype(dtype):
    assert dtype is not torch.bfloat16

@requires_capabilities("dtype.fp64", "dtype.bf16")
def test_marked():
    raise AssertionError("ran")

@requires_capabilities("dtype.int64")
def test_undeclared():
    raise AssertionError("ran")
"""


@pytest.fixture
def probe(checkout):
    paths = []

    def write(text, name="tests/test_probe.py"):
        paths.append(checkout.write(name, text))

    yield write
    for path in paths:
        path.unlink()


def test_values_are_those_of_pytorch():
    assert {one.name: one.value for one in HardwareClassification} == {
        "GENERIC": "generic",
        "ACCELERATOR": "accelerator",
        "CPU": "cpu",
        "CUDA": "cuda",
        "MPS": "mps",
        "XPU": "xpu",
    }


def test_a_string_is_no_label():
    class TestWrong:
        hw_classification = "cuda"

    with pytest.raises(TypeError, match=r"TestWrong\.hw_classification must be.* str 'cuda'"):
        classification_of(TestWrong)


def test_a_string_ends_the_session_in_one_line(checkout, probe):
    probe("hw_classification = 'cuda'\ndef test_it(): pass\n")
    done = checkout.pytest("-q", "tests/test_probe.py")
    assert done.code == pytest.ExitCode.USAGE_ERROR
    assert "test_probe.hw_classification must be a HardwareClassification" in done.text
    assert "Traceback" not in done.text


@pytest.mark.parametrize(
    ("names", "count"), [(["generic"], 1), (["ACCELERATOR"], 3), (["GENERIC", "accelerator"], 4)]
)
def test_selects_by_class(checkout, probe, names, count):
    probe(LABELLED)
    probe("def test_without_a_class(): raise AssertionError('ran')\n", "tests/test_probe_bare.py")
    files = ("tests/test_probe.py", "tests/test_probe_bare.py")
    done = checkout.pytest("-q", *files, "--hw-classification", *names)
    assert done.code == 0, done.text
    assert f"{count} passed, {6 - count} deselected" in done.text


def test_without_the_option_a_test_of_another_device_is_skipped_aloud(checkout, probe):
    probe(LABELLED)
    done = checkout.pytest("-q", "tests/test_probe.py")
    assert done.code == 0, done.text
    assert "a test of class CUDA, and the device is cpu" in done.text
    assert "4 passed, 1 skipped" in done.text


@pytest.mark.parametrize("workers", [(), ("-n", "1")])
def test_a_selection_that_matches_nothing_is_no_success(checkout, probe, workers):
    probe(LABELLED)
    done = checkout.pytest(
        "-q", "tests/test_probe.py", *workers, "--hw-classification", "MPS", "XPU"
    )
    assert done.code == pytest.ExitCode.USAGE_ERROR
    assert "INTERNALERROR" not in done.text
    assert (
        "--hw-classification MPS XPU matches none of 5 collected tests "
        "(3 of ACCELERATOR, 1 of CUDA, 1 of GENERIC)" in done.text
    )


def test_a_class_that_does_not_exist_is_refused(checkout, probe):
    probe(LABELLED)
    done = checkout.pytest("-q", "tests/test_probe.py", "--hw-classification", "NPU")
    assert done.code == pytest.ExitCode.USAGE_ERROR
    assert "NPU" in done.text
    assert "ACCELERATOR" in done.text


@pytest.mark.skipif(device.name != "cpu", reason="an accelerator is there before the latecomer")
@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_a_late_back_end_enters_and_its_provider_is_asked_then(checkout, probe, workers):
    probe(LATE)
    done = checkout.pytest(
        "-q", "tests/test_probe.py", *workers, "--hw-classification", "ACCELERATOR"
    )
    assert done.code == pytest.ExitCode.TESTS_FAILED
    assert "3 passed" in done.text
    assert "1 failed" in done.text
    assert "2 skipped" in done.text
    assert "2  dtype.bf16  (no, says latecomer_package)" in done.text
    assert (
        "'dtype.int64' is not declared for device 'latecomer' by its provider latecomer_package"
        in done.text
    )


def test_asking_during_collection_fails_the_file(checkout, probe):
    probe("import flag_gems\nX = flag_gems.runtime.device.support_bf16\ndef test_it(): pass\n")
    done = checkout.pytest("-q", "tests/test_probe.py")
    assert done.code == pytest.ExitCode.INTERRUPTED
    assert "'dtype.bf16' was asked during collection" in done.text


@pytest.mark.parametrize("arguments", ["", "'dtype.half'"])
def test_a_mark_that_asks_for_nothing_known_is_refused(checkout, probe, arguments):
    probe(f"import pytest\n@pytest.mark.requires_capabilities({arguments})\ndef test_it(): pass\n")
    done = checkout.pytest("-q", "tests/test_probe.py")
    assert done.code == pytest.ExitCode.USAGE_ERROR
    assert "requires_capabilities takes names of dtype.bf16" in done.text


def test_an_operators_mark_stands_for_the_accelerator(checkout, probe):
    probe("import pytest\n@pytest.mark.softmax\ndef test_it(): pass\ndef test_bare(): pass\n")
    done = checkout.pytest(
        "--collect-only", "-q", "tests/test_probe.py", "--hw-classification", "ACCELERATOR"
    )
    assert done.code == 0, done.text
    assert "1/2 tests collected (1 deselected)" in done.text


def test_the_whole_accuracy_suite_is_classified():
    """Selecting every class must leave nothing out."""
    root = Path(__file__).resolve().parents[3]
    files = sorted(str(path.relative_to(root)) for path in (root / "tests").glob("test_*.py"))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "--quick", "--color=no",
         "-p", "no:cacheprovider", *files,
         "--hw-classification", *HardwareClassification.__members__],
        cwd=root,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^\d+ tests collected in", done.stdout, re.MULTILINE), done.stdout[-300:]


def test_every_vendor_declares_every_capability():
    from flag_gems.runtime import known_vendors

    for name, vendor in known_vendors().items():
        if name != "privateuse1":
            assert set(vendor.capabilities) == set(capability.KNOWN), name


def test_an_unknown_capability_is_an_error():
    with pytest.raises(capability.UnknownCapabilityError, match=r"dtype\.fp4.*dtype\.bf16"):
        capability.supports("dtype.fp4")
    with pytest.raises(capability.UnknownCapabilityError):
        capability.provide("other", "someone", {"dtype.fp4": lambda: True})


def test_a_device_cannot_change_once_something_was_made_for_it():
    from flag_gems.runtime import Device, VendorError, known_vendors

    settled = Device(known_vendors()["cpu"])
    settled.settled = True
    with pytest.raises(VendorError, match="registered after kernels were launched"):
        settled.become(known_vendors()["nvidia"])
    assert settled.name == "cpu"
