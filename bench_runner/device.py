# SPDX-License-Identifier: Apache-2.0
"""The name of the device that a backend's jobs run on; results of two devices never mix."""

from __future__ import annotations

import platform
import re
import subprocess
from pathlib import Path

from bench_runner.errors import InfrastructureFault

VENDOR_TOOLS: dict[str, tuple[str, ...]] = {
    "nvidia": ("nvidia-smi", "--query-gpu=name", "--format=csv,noheader"),
    "mthreads": ("mthreads-gmi", "-L"),
    "ascend": ("npu-smi", "info", "-l"),
    "iluvatar": ("ixsmi", "--query-gpu=name", "--format=csv,noheader"),
}


class DeviceNotFound(InfrastructureFault):
    """The vendor's tool is absent or sees no device."""


def describe_device(vendor: str) -> str:
    """The device's name as its vendor gives it.

    Raises:
        DeviceNotFound: no device of the vendor can be seen from here.
    """
    if vendor == "cpu":
        return _cpu_name()
    tool = VENDOR_TOOLS.get(vendor)
    if tool is None:
        raise DeviceNotFound(f"no {vendor} device: no tool is known that would show one")
    try:
        done = subprocess.run(tool, capture_output=True, text=True, timeout=60, check=False)
    except FileNotFoundError as error:
        raise DeviceNotFound(f"{tool[0]}, the vendor's tool, is not installed") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise DeviceNotFound(f"no {vendor} device: {tool[0]}: {error}") from error
    lines = done.stdout.strip().splitlines()
    if done.returncode != 0 or not lines:
        raise DeviceNotFound(f"no {vendor} device: {tool[0]} exited with {done.returncode}")
    return lines[0].strip()


def _cpu_name() -> str:
    try:
        found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.M)
    except OSError:
        found = None
    return found[1].strip() if found else platform.machine()
