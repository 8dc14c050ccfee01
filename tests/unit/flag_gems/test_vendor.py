# SPDX-License-Identifier: Apache-2.0
"""Which vendor is chosen, and what is said when the one asked for can't be had."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys

import pytest
import torch

from flag_gems.runtime import VendorError, detect, known_vendors
from flag_gems.runtime.device import Device
from flag_gems.runtime.vendors import iluvatar, nvidia


def _present(*names: str):
    return {
        name: dataclasses.replace(vendor, probe=lambda name=name: name in names, load=lambda: None)
        for name, vendor in known_vendors().items()
    }


def test_folder_lists_the_vendors_with_the_cpu_last():
    names = list(known_vendors())
    assert set(names) == {"cpu", "nvidia", "ascend", "mthreads", "iluvatar", "privateuse1"}
    assert names[-1] == "cpu"


@pytest.mark.parametrize("name", ["nvidia", "ascend", "mthreads", "iluvatar"])
def test_an_accelerator_comes_before_the_cpu(monkeypatch, name):
    monkeypatch.delenv("GEMS_VENDOR", raising=False)
    assert detect(_present("cpu", name)).name == name


def test_environment_overrides_detection(monkeypatch):
    monkeypatch.setenv("GEMS_VENDOR", "cpu")
    assert detect(_present("cpu", "nvidia")).name == "cpu"


def test_unknown_vendor_is_named_with_the_known_ones(monkeypatch):
    monkeypatch.setenv("GEMS_VENDOR", "acme")
    with pytest.raises(VendorError, match=r"'acme' is not a vendor.*nvidia.*cpu") as caught:
        detect(_present("cpu"))
    assert isinstance(caught.value, RuntimeError)
    assert "\n" not in str(caught.value)


def test_absent_device_is_an_error_and_no_fallback(monkeypatch):
    monkeypatch.setenv("GEMS_VENDOR", "ascend")
    with pytest.raises(VendorError, match=r"no npu device.*cpu"):
        detect(_present("cpu"))


def test_missing_vendor_package_counts_as_absent():
    def missing():
        raise ImportError("no module named torch_npu")

    vendors = _present("cpu", "ascend")
    vendors["ascend"] = dataclasses.replace(vendors["ascend"], load=missing)
    assert detect(vendors).name == "cpu"


def test_no_vendor_at_all(monkeypatch):
    monkeypatch.delenv("GEMS_VENDOR", raising=False)
    with pytest.raises(VendorError, match="no device of a known vendor"):
        detect(_present())


@pytest.mark.parametrize(
    ("version", "tool", "expected"),
    [
        ("2.11.0+cu130", None, "nvidia"),
        ("2.7.1+corex.4.4.0", None, "iluvatar"),
        ("2.7.1", "/usr/bin/ixsmi", "iluvatar"),
    ],
)
def test_iluvatar_is_told_from_nvidia(monkeypatch, version, tool, expected):
    monkeypatch.setattr(torch, "__version__", version)
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(iluvatar.shutil, "which", lambda name: tool)
    vendors = {"nvidia": nvidia.VENDOR, "iluvatar": iluvatar.VENDOR}
    assert detect(vendors, None if not os.environ.get("GEMS_VENDOR") else expected).name == expected


def test_import_fails_in_one_line_for_an_absent_vendor():
    done = subprocess.run(
        [sys.executable, "-c", "import flag_gems"],
        env={**os.environ, "GEMS_VENDOR": "acme"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "VendorError: GEMS_VENDOR='acme' is not a vendor" in done.stderr.splitlines()[-1]


def test_cpu_device_answers_what_a_gpu_answers():
    device = Device(known_vendors()["cpu"])
    functions = device.vendor.device_module()
    functions.synchronize()
    with functions.device(torch.device("cpu")):
        assert functions.current_device() == 0
    assert (device.name, device.dispatch_key, device.device_count) == ("cpu", "CPU", 1)
    assert functions.is_available()
    assert device.support_fp64
    assert device.support_int64
