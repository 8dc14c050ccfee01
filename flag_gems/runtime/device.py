# SPDX-License-Identifier: Apache-2.0
"""The device of this process as the library, its tests and its benchmarks see it."""

from __future__ import annotations

from functools import cached_property

from flag_gems.runtime.vendor import Vendor


class Device:
    """``runtime.device``: what a vendor's device is called and can do, probed at first use."""

    def __init__(self, vendor: Vendor) -> None:
        self.vendor = vendor
        self.name = vendor.device
        self.vendor_name = vendor.name
        self.dispatch_key = vendor.dispatch_key

    @cached_property
    def device_count(self) -> int:
        return int(self.vendor.device_module().device_count())

    @cached_property
    def support_fp64(self) -> bool:
        return self.vendor.support_fp64()

    @cached_property
    def support_bf16(self) -> bool:
        return self.vendor.support_bf16()

    @cached_property
    def support_int64(self) -> bool:
        return self.vendor.support_int64()

    def __repr__(self) -> str:
        return f"Device(name={self.name!r}, vendor_name={self.vendor_name!r})"
