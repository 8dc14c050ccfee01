# SPDX-License-Identifier: Apache-2.0
"""Ascend NPUs: torch_npu adds torch.npu under torch's private device key."""

from __future__ import annotations

import importlib

import torch

from flag_gems.runtime.vendor import Vendor


def _load() -> None:
    importlib.import_module("torch_npu")


def _probe() -> bool:
    module = getattr(torch, "npu", None)
    return module is not None and module.is_available()


VENDOR = Vendor(
    name="ascend",
    device="npu",
    dispatch_key="PrivateUse1",
    order=30,
    probe=_probe,
    load=_load,
    device_module=lambda: vars(torch)["npu"],
    backend_module=lambda: getattr(torch.backends, "npu", None),
    capabilities={
        "dtype.bf16": lambda: True,
        "dtype.fp64": lambda: False,
        "dtype.int64": lambda: True,
        "dtype.fp8": lambda: False,
    },
)
