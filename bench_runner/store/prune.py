# SPDX-License-Identifier: Apache-2.0
"""Which runs may go, and making them go.

What a year of runs is kept for stays whatever was asked: running runs, the best candidate of each
operator and backend with the runs that prove it right, and the newest run of each operator and
backend. Damaged runs stay too: somebody has to look at them.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path

from bench_runner.contract.status import Mode, Status
from bench_runner.executors.run_lock import RunLocked, acquire
from bench_runner.store.view import JobRow, RunRow, StoreView

BIN = ".pruned-"
"""How folders are called that are on their way out; readers of runs pass over them."""


@dataclass(frozen=True)
class Limits:
    """What shall be left. None: no limit."""

    age: timedelta | None = None
    """Of runs, since they were planned."""
    bytes: int | None = None
    runs: int | None = None


@dataclass(frozen=True)
class Choice:
    """A run beyond a limit."""

    run: str
    created_at: str
    bytes: int
    why: str
    """The limit, or where it stays: what it is kept for."""
    stays: bool


def choose(view: StoreView, limits: Limits, now: datetime | None = None) -> list[Choice]:
    """Runs beyond a limit, oldest first. The view has been refreshed and measured."""
    sizes = view.sizes()
    _, runs = view.find_runs()
    kept = dict(_kept(view, runs))
    left, left_bytes = len(runs), sum(sizes.get(run.id, 0) for run in runs)
    oldest = (now or datetime.now(timezone.utc)) - limits.age if limits.age is not None else None
    found = []
    for run in reversed(runs):
        size = sizes.get(run.id, 0)
        if oldest is not None and _time(run.created_at) < oldest:
            why = f"planned {run.created_at}"
        elif limits.runs is not None and left > limits.runs:
            why = f"one of {left} runs"
        elif limits.bytes is not None and left_bytes > limits.bytes:
            why = "the store is too large"
        else:
            continue
        stays = run.id in kept
        found.append(Choice(run.id, run.created_at, size, kept.get(run.id, why), stays))
        if not stays:
            left, left_bytes = left - 1, left_bytes - size
    return found


def remove(root: Path, run: str) -> bool:
    """Deletes a run; False where a runner has it by now.

    It is gone for every reader at once; a crash leaves a folder that `sweep` deletes.
    """
    folder = root / run
    try:
        # Whoever would resume it now is refused.
        lock = acquire(folder)
    except RunLocked:
        return False
    except FileNotFoundError:
        return True
    try:
        bin_ = root / f"{BIN}{run}"
        os.rename(folder, bin_)
        shutil.rmtree(bin_)
    finally:
        os.close(lock)
    return True


def sweep(root: Path) -> None:
    """Deletes what an interrupted `remove` left."""
    for folder in root.glob(f"{BIN}*"):
        shutil.rmtree(folder, ignore_errors=True)


def _kept(view: StoreView, runs: list[RunRow]) -> Iterator[tuple[str, str]]:
    """Runs that stay and why; the last reason for one is the one that is told."""
    newest: dict[tuple[str, str], str] = {}
    for run in runs:
        for operator in run.operators:
            newest.setdefault((operator, run.backend), run.id)
    for (operator, backend), run_id in newest.items():
        yield run_id, f"the newest of {operator} on {backend}"
    yield from _best(view.newest())
    for run in runs:
        if run.active:
            yield run.id, "it is running"


def _best(newest: list[JobRow]) -> Iterator[tuple[str, str]]:
    """Runs with the newest verdicts of the fastest candidate that is right in every mode."""
    of_candidate: dict[tuple[str, str, str, str], list[JobRow]] = {}
    for job in newest:
        who = (job.operator, job.backend, job.device, job.candidate)
        of_candidate.setdefault(who, []).append(job)
    best: dict[tuple[str, str], tuple[float, list[JobRow]]] = {}
    for (operator, backend, _, _), jobs in of_candidate.items():
        benchmark = next((job for job in jobs if job.mode is Mode.BENCHMARK), None)
        if benchmark is None or not benchmark.speedup:
            continue
        if all(job.status is Status.PASSED for job in jobs):
            known = best.get((operator, backend))
            if known is None or known[0] < benchmark.speedup:
                best[operator, backend] = (benchmark.speedup, jobs)
    for (operator, backend), (_, jobs) in best.items():
        for job in jobs:
            yield job.run, f"the best of {operator} on {backend}"


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))
