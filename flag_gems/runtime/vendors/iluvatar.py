# SPDX-License-Identifier: Apache-2.0
"""Iluvatar GPUs: their torch is a build of its own that presents the device as ``cuda``."""

from __future__ import annotations

import shutil

import torch

from flag_gems.runtime.vendor import Vendor


def is_corex() -> bool:
    """Whether torch.cuda is Iluvatar's: its version says corex, or ixsmi is installed."""
    return "corex" in torch.__version__ or shutil.which("ixsmi") is not None


VENDOR = Vendor(
    name="iluvatar",
    device="cuda",
    dispatch_key="CUDA",
    order=20,
    probe=lambda: is_corex() and torch.cuda.is_available(),
    device_module=lambda: torch.cuda,
    backend_module=lambda: torch.backends.cuda,
    capabilities={
        "dtype.bf16": lambda: True,
        "dtype.fp64": lambda: False,
        "dtype.int64": lambda: True,
        "dtype.fp8": lambda: False,
    },
)
