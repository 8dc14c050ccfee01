# SPDX-License-Identifier: Apache-2.0
"""From a vendor's name to its devices on this machine."""

from __future__ import annotations

from collections.abc import Callable

from bench_runner.devices import ascend, cpu, iluvatar, mthreads, nvidia
from bench_runner.devices.record import Device, DeviceNotFound

VENDORS: dict[str, Callable[[], list[Device]]] = {
    "cpu": cpu.find,
    "nvidia": nvidia.find,
    "mthreads": mthreads.find,
    "ascend": ascend.find,
    "iluvatar": iluvatar.find,
}


def find_devices(vendor: str) -> list[Device]:
    """The vendor's devices, by index; at least one.

    Raises:
        DeviceNotFound: none can be seen from here.
    """
    find = VENDORS.get(vendor)
    if find is None:
        raise DeviceNotFound(f"no {vendor} device: no tool is known that would show one")
    devices = find()
    if not devices:
        raise DeviceNotFound(f"no {vendor} device: the vendor's tool lists none")
    return sorted(devices, key=lambda device: device.index)


def describe_device(vendor: str) -> str:
    """The model of the vendor's first device here.

    Raises:
        DeviceNotFound: none can be seen from here.
    """
    return find_devices(vendor)[0].name
