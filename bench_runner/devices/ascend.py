# SPDX-License-Identifier: Apache-2.0
"""Ascend NPUs, from npu-smi's mapping of chips to logic ids, which number the device nodes."""

from __future__ import annotations

import re

from bench_runner.devices.record import Device, ask_tool

ROW = re.compile(r"^\s*(?P<npu>\d+)\s+(?P<chip>\d+)\s+(?P<logic>\d+)\s+(?P<name>\S.*?)\s*$", re.M)


def find() -> list[Device]:
    """Raises DeviceNotFound when npu-smi is absent or fails."""
    return parse(ask_tool("npu-smi", "info", "-m"))


def parse(text: str) -> list[Device]:
    """Devices from rows of NPU id, chip id, logic id and name.

    A chip without a logic id (`-`) is the board's controller.
    """
    return [
        Device(found["logic"], int(found["logic"]), int(found["logic"]), found["name"])
        for found in ROW.finditer(text)
    ]
