# SPDX-License-Identifier: Apache-2.0
"""Moore Threads GPUs: torch_musa adds torch.musa under torch's private device key."""

from __future__ import annotations

import importlib

import torch

from flag_gems.runtime.vendor import Vendor


def _load() -> None:
    importlib.import_module("torch_musa")


def _probe() -> bool:
    module = getattr(torch, "musa", None)
    return module is not None and module.is_available()


VENDOR = Vendor(
    name="mthreads",
    device="musa",
    dispatch_key="PrivateUse1",
    order=40,
    probe=_probe,
    load=_load,
    device_module=lambda: vars(torch)["musa"],
    backend_module=lambda: getattr(torch.backends, "musa", None),
    capabilities={
        "dtype.bf16": lambda: True,
        "dtype.fp64": lambda: False,
        "dtype.int64": lambda: True,
        "dtype.fp8": lambda: False,
    },
)
