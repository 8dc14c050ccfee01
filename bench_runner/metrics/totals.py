# SPDX-License-Identifier: Apache-2.0
"""Sums over all jobs of a store, kept up to date by the runs that changed.

A scrape must not walk through a year of verdicts to learn that one job ended.
"""

from __future__ import annotations

import bisect
import threading
from collections import Counter
from collections.abc import Iterable

from bench_runner.store.view import JobView, RunView

PHASES = ("queue", "start", "import", "pytest", "collect")
BUCKETS_S = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0)
"""From the floor of a container's start to the longest job that --timeout is used for."""
NANO = 1_000_000_000

Ended = tuple[str, str, str, str]
"""Status, backend, operator, mode."""
Phase = tuple[str, str, str]
"""Backend, mode, phase."""


class Totals:
    """Jobs by how they ended, and the phases' times. Integers alone, so that taking a run out
    again leaves no rounding behind."""

    def __init__(self) -> None:
        self.ended: Counter[Ended] = Counter()
        self.buckets: Counter[tuple[Phase, int]] = Counter()
        """Not cumulative; the index after the last of BUCKETS_S is for what is longer."""
        self.nanoseconds: Counter[Phase] = Counter()

    def add(self, jobs: tuple[JobView, ...]) -> None:
        """Takes in the verdicts of a run."""
        for view in jobs:
            verdict, job = view.verdict, view.job
            if verdict is None:
                continue
            place, mode = job.environment, job.mode.value
            self.ended[verdict.status.value, place.backend, job.op, mode] += 1
            if verdict.attempts == 0:
                continue
            for name in PHASES:
                seconds = getattr(verdict.phases, f"{name}_s")
                phase = (place.backend, mode, name)
                self.buckets[phase, bisect.bisect_left(BUCKETS_S, seconds)] += 1
                self.nanoseconds[phase] += round(seconds * NANO)

    def merge(self, other: Totals, sign: int) -> None:
        self.ended.update({key: sign * number for key, number in other.ended.items()})
        self.buckets.update({key: sign * number for key, number in other.buckets.items()})
        self.nanoseconds.update({key: sign * number for key, number in other.nanoseconds.items()})

    def phases(self) -> dict[Phase, tuple[list[int], float]]:
        """Cumulative counts for BUCKETS_S and all, and the sum in seconds."""
        found = {}
        for phase in sorted({phase for (phase, _), number in self.buckets.items() if number}):
            counts, seen = [], 0
            for index in range(len(BUCKETS_S) + 1):
                seen += self.buckets[phase, index]
                counts.append(seen)
            found[phase] = (counts, self.nanoseconds[phase] / NANO)
        return found


class RunningTotals:
    """Totals of the runs of a store. Safe from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sum = Totals()
        self._parts: dict[str, tuple[tuple[JobView, ...], Totals]] = {}
        """By run; the view replaces its tuple of jobs when one of them changes."""

    def of(self, runs: Iterable[RunView]) -> Totals:
        """The totals of exactly these runs; looks only into those that changed since last time."""
        with self._lock:
            gone = set(self._parts)
            for run in runs:
                gone.discard(run.record.id)
                jobs = run.jobs()
                known = self._parts.get(run.record.id)
                if known and known[0] is jobs:
                    continue
                part = Totals()
                part.add(jobs)
                if known:
                    self._sum.merge(known[1], -1)
                self._sum.merge(part, 1)
                self._parts[run.record.id] = (jobs, part)
            for run_id in gone:
                self._sum.merge(self._parts.pop(run_id)[1], -1)
            copy = Totals()
            copy.merge(self._sum, 1)
            return copy
