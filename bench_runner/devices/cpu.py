# SPDX-License-Identifier: Apache-2.0
"""The machine's own processor: one device, whatever the number of cores."""

from __future__ import annotations

import platform
import re
from pathlib import Path

from bench_runner.devices.record import Device


def find(cpuinfo: Path = Path("/proc/cpuinfo")) -> list[Device]:
    """Always one device."""
    try:
        model = re.search(r"^model name\s*:\s*(.+)$", cpuinfo.read_text(), re.M)
    except OSError:
        model = None
    return [Device("cpu", 0, 0, model[1].strip() if model else platform.machine())]
