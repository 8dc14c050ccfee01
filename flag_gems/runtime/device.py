# SPDX-License-Identifier: Apache-2.0
"""The device of this process as the library, its tests and its benchmarks see it."""

from __future__ import annotations

from functools import cached_property

from flag_gems.runtime import capability
from flag_gems.runtime.vendor import Vendor, VendorError


class Device:
    """``runtime.device``: what a vendor's device is called and can do, asked when it is needed."""

    def __init__(self, vendor: Vendor) -> None:
        self.vendor = vendor
        self.settled = False
        """Whether a kernel was launched or an operator registered, each for this device alone."""

    @property
    def name(self) -> str:
        return self.vendor.device

    @property
    def vendor_name(self) -> str:
        return self.vendor.name

    @property
    def dispatch_key(self) -> str:
        return self.vendor.dispatch_key

    @cached_property
    def device_count(self) -> int:
        return int(self.vendor.device_module().device_count())

    @property
    def support_fp64(self) -> bool:
        return capability.supports("dtype.fp64", self.vendor)

    @property
    def support_bf16(self) -> bool:
        return capability.supports("dtype.bf16", self.vendor)

    @property
    def support_int64(self) -> bool:
        return capability.supports("dtype.int64", self.vendor)

    def become(self, vendor: Vendor) -> None:
        """Takes another vendor's device in its place.

        Raises:
            VendorError: the device is settled already.
        """
        if self.settled:
            raise VendorError(
                f"{vendor.device} ({vendor.name}) registered after kernels were launched or "
                f"operators registered for {self.name}: register it before, or import it first"
            )
        self.vendor = vendor
        vars(self).pop("device_count", None)

    def __repr__(self) -> str:
        return f"Device(name={self.name!r}, vendor_name={self.vendor_name!r})"
