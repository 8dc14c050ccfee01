# SPDX-License-Identifier: Apache-2.0
"""Finding and ending every process that descends from one, daemons included (Linux)."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import time

PR_SET_CHILD_SUBREAPER = 36
PATIENCE_S = 5.0
"""A process in an uninterruptible call dies when the call ends; waiting longer does not help."""


def adopt_orphans() -> None:
    """Makes orphaned descendants children of this process instead of process 1's."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def parents() -> dict[int, int]:
    """Process id to parent's id, zombies left out."""
    table = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat", "rb") as file:
                # The command name is in parentheses and may hold spaces and parentheses itself.
                state, parent = file.read().rpartition(b")")[2].split()[:2]
        except (OSError, ValueError):
            continue
        if state not in (b"Z", b"X"):
            table[int(entry)] = int(parent)
    return table


def children(parent: int) -> set[int]:
    """Living processes directly below ``parent``."""
    return {pid for pid, above in parents().items() if above == parent}


def descendants(root: int) -> set[int]:
    """All living processes below ``root``."""
    below: dict[int, list[int]] = {}
    for pid, parent in parents().items():
        below.setdefault(parent, []).append(pid)
    found: set[int] = set()
    frontier = [root]
    while frontier:
        for pid in below.get(frontier.pop(), []):
            if pid not in found:
                found.add(pid)
                frontier.append(pid)
    return found


def kill_descendants(root: int) -> int:
    """Kills all descendants of ``root`` until none is left; answers how many there were.

    A fork bomb can outrun one sweep, so it sweeps until a pass finds nothing.
    """
    killed: set[int] = set()
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        alive = descendants(root)
        if not alive:
            break
        for pid in alive:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        killed |= alive
        time.sleep(0.01)
        _reap()
    return len(killed)


def _reap() -> None:
    """Takes the exit statuses of dead children, so that no zombie keeps a process id."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
