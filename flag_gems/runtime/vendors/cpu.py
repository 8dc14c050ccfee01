# SPDX-License-Identifier: Apache-2.0
"""The processor itself: always there, so it is probed last."""

from __future__ import annotations

import torch

from flag_gems.runtime.cpu_device import CpuDevice
from flag_gems.runtime.vendor import Vendor

VENDOR = Vendor(
    name="cpu",
    device="cpu",
    dispatch_key="CPU",
    order=1000,
    probe=lambda: True,
    device_module=CpuDevice,
    backend_module=lambda: torch.backends.cpu,
    capabilities={
        "dtype.bf16": lambda: True,
        "dtype.fp64": lambda: True,
        "dtype.int64": lambda: True,
        "dtype.fp8": lambda: True,
    },
)
