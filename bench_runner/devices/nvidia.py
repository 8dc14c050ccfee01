# SPDX-License-Identifier: Apache-2.0
"""NVIDIA GPUs, from nvidia-smi; the node's number, which need not be the index, from the driver."""

from __future__ import annotations

import re
from pathlib import Path

from bench_runner.devices.record import Device, ask_tool

QUERY = ("--query-gpu=index,uuid,pci.bus_id,name", "--format=csv,noheader")
DRIVER = Path("/proc/driver/nvidia/gpus")


def find() -> list[Device]:
    """Raises DeviceNotFound when nvidia-smi is absent or fails."""
    return parse(ask_tool("nvidia-smi", *QUERY))


def parse(text: str, driver: Path = DRIVER) -> list[Device]:
    """Devices from lines of `index, uuid, bus id, name`."""
    devices = []
    for line in text.strip().splitlines():
        fields = [field.strip() for field in line.split(",", 3)]
        if len(fields) == 4 and fields[0].isdigit():
            index, uuid, bus, name = fields
            devices.append(Device(uuid, int(index), _minor(driver, bus, int(index)), name))
    return devices


def _minor(driver: Path, bus: str, index: int) -> int:
    # The tool writes the PCI domain with eight digits, the driver's folder has four.
    folder = driver / re.sub(r"^0000(?=[0-9a-f]{4}:)", "", bus.lower())
    try:
        found = re.search(r"Device Minor:\s*(\d+)", (folder / "information").read_text())
    except OSError:
        found = None
    return int(found[1]) if found else index
