# SPDX-License-Identifier: Apache-2.0
"""Waiting for a job while holding it to its limits."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

from bench_runner.contract.outcome import Ending

POLL_S = 0.02
DEEPEST, MOST_ENTRIES = 32, 20_000
"""Triton's cache, in a local job's scratch folder, has two levels and a few files a kernel."""
SLOW_CHECK_S = 0.5
"""Sizes and memory are sampled, not trapped: a job can overshoot by what it writes in this time."""


def folder_bytes(folder: Path) -> float:
    """Disk space taken below a folder that a hostile process may be changing meanwhile.

    Infinite where there are more entries or levels than any honest job leaves, or where a folder
    cannot be read: what cannot be counted is over every limit.
    """
    total, entries = 0, 0
    pending = [(str(folder), 0)]
    while pending:
        path, depth = pending.pop()
        try:
            with os.scandir(path) as found:
                for entry in found:
                    entries += 1
                    total += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        pending.append((entry.path, depth + 1))
        except FileNotFoundError:
            continue
        except OSError:
            return math.inf
        if depth > DEEPEST or entries > MOST_ENTRIES:
            return math.inf
    return total


def watch(
    finished: Callable[[float], bool],
    cancelled: threading.Event,
    timeout_s: float,
    written: tuple[Path, ...],
    output_bytes: int,
    memory_exceeded: Callable[[], bool] = lambda: False,
    sample: Callable[[], None] = lambda: None,
) -> Ending:
    """Blocks until the job ends or breaks a limit; answers which. The caller does the killing.

    Args:
        finished: waits up to the given seconds and tells whether the process is gone.
        cancelled: set by whoever wants the job to end.
        timeout_s: wall-clock seconds from now.
        written: folders that the job can write to.
        output_bytes: what may lie in each of them.
        memory_exceeded: sampled together with the sizes.
        sample: called with them, for whoever wants to look at the job while it runs.
    """
    deadline = time.monotonic() + timeout_s
    next_slow_check = 0.0
    while not finished(POLL_S):
        if cancelled.is_set():
            return Ending.CANCELLED
        now = time.monotonic()
        if now >= deadline:
            return Ending.TIMEOUT
        if now >= next_slow_check:
            next_slow_check = now + SLOW_CHECK_S
            sample()
            if any(folder_bytes(folder) > output_bytes for folder in written):
                return Ending.OUTPUT_LIMIT
            if memory_exceeded():
                return Ending.OOM
    return Ending.CANCELLED if cancelled.is_set() else Ending.EXITED
