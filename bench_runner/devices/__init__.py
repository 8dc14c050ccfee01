# SPDX-License-Identifier: Apache-2.0
"""The accelerators of this machine, by vendor. One file a vendor; `find_devices` is the way in."""

from bench_runner.devices.finder import VENDORS, describe_device, find_devices
from bench_runner.devices.record import Device, DeviceNotFound

__all__ = ["VENDORS", "Device", "DeviceNotFound", "describe_device", "find_devices"]
