# SPDX-License-Identifier: Apache-2.0
"""The lock that says a run has a living runner. The kernel drops it however the runner dies."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

from bench_runner.errors import UsageFault

LOCK = "lock"
PATIENCE, PAUSE_S = 20, 0.02


class RunLocked(UsageFault):
    """Another process is running this run."""


def acquire(folder: Path) -> int:
    """Locks a run's folder for the life of this process; answers the descriptor that holds it.

    Raises:
        RunLocked: a living runner has it.
    """
    descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    # Whoever asks ``is_held`` holds it for a moment, so one refusal proves nothing.
    for _ in range(PATIENCE):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(PAUSE_S)
        else:
            return descriptor
    os.close(descriptor)
    raise RunLocked(f"run {folder.name} is being run by another process")


def is_held(folder: Path) -> bool:
    """Whether a living process has the run's lock."""
    try:
        descriptor = os.open(folder / LOCK, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    except OSError:
        # Another user's: not ours to judge, so not ours to clear away.
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
