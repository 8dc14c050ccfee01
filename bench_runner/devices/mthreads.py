# SPDX-License-Identifier: Apache-2.0
"""Moore Threads GPUs, from the list of mthreads-gmi."""

from __future__ import annotations

import re

from bench_runner.devices.record import Device, ask_tool

LINE = re.compile(
    r"^GPU\s+(?P<index>\d+)\s*:\s*(?P<name>.+?)\s*\(UUID:\s*(?P<uuid>[^)\s]+)\)", re.M
)


def find() -> list[Device]:
    """Raises DeviceNotFound when mthreads-gmi is absent or fails."""
    return parse(ask_tool("mthreads-gmi", "-L"))


def parse(text: str) -> list[Device]:
    """Devices from lines of `GPU 0: NAME (UUID: ...)`."""
    return [
        Device(found["uuid"], int(found["index"]), int(found["index"]), found["name"])
        for found in LINE.finditer(text)
    ]
