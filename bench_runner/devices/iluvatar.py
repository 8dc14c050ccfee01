# SPDX-License-Identifier: Apache-2.0
"""Iluvatar accelerators, from ixsmi, whose queries are those of nvidia-smi."""

from __future__ import annotations

from bench_runner.devices.record import Device, ask_tool

QUERY = ("--query-gpu=index,uuid,name", "--format=csv,noheader")


def find() -> list[Device]:
    """Raises DeviceNotFound when ixsmi is absent or fails."""
    return parse(ask_tool("ixsmi", *QUERY))


def parse(text: str) -> list[Device]:
    """Devices from lines of `index, uuid, name`."""
    devices = []
    for line in text.strip().splitlines():
        fields = [field.strip() for field in line.split(",", 2)]
        if len(fields) == 3 and fields[0].isdigit():
            devices.append(Device(fields[1], int(fields[0]), int(fields[0]), fields[2]))
    return devices
