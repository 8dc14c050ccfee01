# SPDX-License-Identifier: Apache-2.0
"""How much of the machine others used while a job measured.

On a CPU that is the difference between a measurement and a rumour: with one core taken, torch's
threads wait for each other for whole time slices, and a baseline of 3 us becomes one of 8 ms.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable

import psutil


class ForeignLoad:
    """Compares the machine's busy time with the job's own, from the first sample to the last.

    Args:
        own_cpu_s: processor seconds that the job has used so far; None where they cannot be read.
    """

    def __init__(self, own_cpu_s: Callable[[], float | None]) -> None:
        self._own_cpu_s = own_cpu_s
        self._first: tuple[float, float, float] | None = None
        self._last: tuple[float, float, float] | None = None

    def sample(self) -> None:
        own = self._own_cpu_s()
        if own is None:
            return
        self._last = (time.monotonic(), busy_cpu_s(), own)
        self._first = self._first or self._last

    @property
    def cores(self) -> float | None:
        """Cores that others kept busy on average; None where it is not known."""
        if self._first is None or self._last is None or self._last[0] <= self._first[0]:
            return None
        wall, busy, own = (b - a for a, b in zip(self._first, self._last, strict=True))
        return max(0.0, round((busy - own) / wall, 3))


def busy_cpu_s() -> float:
    """Processor seconds that this machine has worked, for whomever."""
    times = psutil.cpu_times()
    # Guests' time is contained in user; steal is the machine's own neighbours'.
    return float(times.user + times.nice + times.system + times.irq + times.softirq + times.steal)


def family_cpu_s(root: int) -> float | None:
    """Processor seconds of a process, its living descendants and those it has reaped."""
    total = 0.0
    try:
        family = psutil.Process(root)
        for process in [family, *family.children(recursive=True)]:
            with contextlib.suppress(psutil.NoSuchProcess):
                times = process.cpu_times()
                total += times.user + times.system
                total += times.children_user + times.children_system
    except psutil.NoSuchProcess:
        return None
    return total
