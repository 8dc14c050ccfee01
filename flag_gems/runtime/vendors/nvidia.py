# SPDX-License-Identifier: Apache-2.0
"""NVIDIA GPUs through torch.cuda, told apart from Iluvatar's torch, which answers there too."""

from __future__ import annotations

import torch

from flag_gems.runtime.vendor import Vendor
from flag_gems.runtime.vendors.iluvatar import is_corex


def _probe() -> bool:
    return torch.version.cuda is not None and torch.cuda.is_available() and not is_corex()


VENDOR = Vendor(
    name="nvidia",
    device="cuda",
    dispatch_key="CUDA",
    order=10,
    probe=_probe,
    device_module=lambda: torch.cuda,
    backend_module=lambda: torch.backends.cuda,
    capabilities={
        "dtype.bf16": lambda: torch.cuda.get_device_capability() >= (8, 0),
        "dtype.fp64": lambda: True,
        "dtype.int64": lambda: True,
        "dtype.fp8": lambda: torch.cuda.get_device_capability() >= (8, 9),
    },
)
