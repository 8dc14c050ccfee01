# SPDX-License-Identifier: Apache-2.0
"""The machine under the operators: vendor, device, registration, the way back to torch.

Importing this package chooses the vendor and, on a CPU, how Triton runs; hence it comes before any
import of Triton.
"""

from __future__ import annotations

from typing import Any

from flag_gems.runtime import triton_cpu
from flag_gems.runtime.device import Device
from flag_gems.runtime.ledger import Call, calls
from flag_gems.runtime.vendor import Vendor, VendorError, detect, known_vendors

device = Device(detect(known_vendors()))
torch_device_fn: Any = device.vendor.device_module()
torch_backend_device: Any = device.vendor.backend_module()

if device.name == "cpu":
    triton_cpu.prepare()
interpreted: bool = triton_cpu.interpreting()

__all__ = [
    "Call",
    "Device",
    "Vendor",
    "VendorError",
    "calls",
    "detect",
    "device",
    "interpreted",
    "known_vendors",
    "torch_backend_device",
    "torch_device_fn",
]
