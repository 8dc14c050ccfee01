# SPDX-License-Identifier: Apache-2.0
"""Whatever back end has registered under torch's private device key, when no other file knows it.

Its name is not known before it registers, hence the record is made anew each time it is asked for.
What it can do is for its own package to say: ``capability.provide``.
"""

from __future__ import annotations

from typing import Any

import torch

from flag_gems.runtime.vendor import Vendor

UNNAMED = "privateuseone"


def _module() -> Any:
    return getattr(torch, torch._C._get_privateuse1_backend_name(), None)


def _probe() -> bool:
    name = torch._C._get_privateuse1_backend_name()
    module = _module()
    return name != UNNAMED and module is not None and bool(module.is_available())


def __getattr__(name: str) -> Vendor:
    if name != "VENDOR":
        raise AttributeError(name)
    device = torch._C._get_privateuse1_backend_name()
    return Vendor(
        name="privateuse1",
        device=device,
        dispatch_key="PrivateUse1",
        order=900,
        probe=_probe,
        device_module=_module,
        backend_module=lambda: getattr(torch.backends, device, None),
    )
