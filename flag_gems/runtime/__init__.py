# SPDX-License-Identifier: Apache-2.0
"""The machine under the operators: vendor, device, registration, the way back to torch.

Importing this package chooses the vendor and, on a CPU, how Triton runs; hence it comes before any
import of Triton.
"""

from __future__ import annotations

import sys
from typing import Any

from flag_gems.runtime import capability, triton_cpu
from flag_gems.runtime.device import Device
from flag_gems.runtime.ledger import Call, calls
from flag_gems.runtime.vendor import Vendor, VendorError, detect, known_vendors

device = Device(detect(known_vendors()))
torch_device_fn: Any = device.vendor.device_module()
torch_backend_device: Any = device.vendor.backend_module()

if device.name == "cpu":
    triton_cpu.prepare()
interpreted: bool = triton_cpu.interpreting()


def redetect() -> bool:
    """Looks for the vendor again, for a back end that registered after flag_gems was imported.

    Returns:
        Whether this process now has another device.

    Raises:
        VendorError: it would have another one, but kernels were launched or operators registered
            for the device that it has.
    """
    vendor = detect(known_vendors())
    if (vendor.name, vendor.device) == (device.vendor.name, device.vendor.device):
        return False
    device.become(vendor)
    fresh = {
        "torch_device_fn": vendor.device_module(),
        "torch_backend_device": vendor.backend_module(),
    }
    # The library's modules import these by name, so that a launch looks nothing up.
    for module in [m for name, m in sys.modules.items() if name.startswith("flag_gems.")]:
        vars(module).update({name: fresh[name] for name in fresh.keys() & vars(module).keys()})
    library = sys.modules.get("flag_gems")
    if library is not None:
        vars(library).update(device=vendor.device, vendor_name=vendor.name)
    return True


__all__ = [
    "Call",
    "Device",
    "Vendor",
    "VendorError",
    "calls",
    "capability",
    "detect",
    "device",
    "interpreted",
    "known_vendors",
    "redetect",
    "torch_backend_device",
    "torch_device_fn",
]
