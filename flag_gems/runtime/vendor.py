# SPDX-License-Identifier: Apache-2.0
"""What the library must know of a vendor's machine, and which vendor's machine this is.

A vendor is a frozen record in ``vendors/<name>.py``. Everything else asks the record, so that no
other file of the library names a vendor.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

ENVIRONMENT_VARIABLE = "GEMS_VENDOR"


class VendorError(RuntimeError):
    """The vendor that was asked for does not exist, or its device is not on this machine."""


def _nothing() -> None:
    return None


@dataclass(frozen=True)
class Vendor:
    """One vendor's machine.

    ``probe`` answers whether a device of this vendor can be used by this process and never raises;
    ``load`` imports what torch needs before the device exists. Both are called once, ``load``
    first.
    """

    name: str
    device: str
    """Device type as in ``torch.device``: cpu, cuda, npu, musa."""
    dispatch_key: str
    """Dispatch key under which operators are registered for this device."""
    order: int
    """Vendors are probed from the smallest order up; the CPU is last."""
    probe: Callable[[], bool]
    device_module: Callable[[], Any]
    """The module behind ``runtime.torch_device_fn``: torch.cuda, torch.npu, ..."""
    backend_module: Callable[[], Any]
    """The module behind ``runtime.torch_backend_device``: torch.backends.cuda, ..."""
    load: Callable[[], None] = _nothing
    capabilities: Mapping[str, Callable[[], bool]] = field(default_factory=dict)
    """What the device can do by the names of ``capability.KNOWN``; asked at run time, never before.

    A name that is missing is undeclared, which is an error for whoever asks.
    """


def known_vendors() -> dict[str, Vendor]:
    """Every vendor of the ``vendors`` folder by name, in the order in which they are probed."""
    from flag_gems.runtime import vendors

    found = [
        importlib.import_module(f"{vendors.__name__}.{module.name}").VENDOR
        for module in pkgutil.iter_modules(vendors.__path__)
    ]
    return {vendor.name: vendor for vendor in sorted(found, key=lambda vendor: vendor.order)}


def _usable(vendor: Vendor) -> bool:
    try:
        vendor.load()
    except ImportError:
        return False
    return vendor.probe()


def detect(vendors: Mapping[str, Vendor], wanted: str | None = None) -> Vendor:
    """The vendor ``wanted`` (by default GEMS_VENDOR), or the first whose probe says yes.

    Raises:
        VendorError: ``wanted`` is not in ``vendors``, or its device is absent, or no probe says
            yes.
    """
    if wanted is None:
        wanted = os.environ.get(ENVIRONMENT_VARIABLE) or None
    names = ", ".join(vendors)
    if wanted is None:
        for vendor in vendors.values():
            if _usable(vendor):
                return vendor
        raise VendorError(f"no device of a known vendor was found; known vendors: {names}")
    if wanted not in vendors:
        raise VendorError(
            f"{ENVIRONMENT_VARIABLE}={wanted!r} is not a vendor; known vendors: {names}"
        )
    if not _usable(vendors[wanted]):
        raise VendorError(
            f"{ENVIRONMENT_VARIABLE}={wanted!r}: no {vendors[wanted].device} device of this vendor "
            f"is usable here; unset it to detect the vendor, or choose one of: {names}"
        )
    return vendors[wanted]
