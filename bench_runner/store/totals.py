# SPDX-License-Identifier: Apache-2.0
"""Sums over jobs: how they ended, and where their time went.

Integers alone, so that a run can be taken out again without leaving a rounding behind.
"""

from __future__ import annotations

import bisect
import json
from collections import Counter

from bench_runner.contract.verdict import Verdict

PHASES = ("queue", "start", "import", "pytest", "counters", "collect", "judge")
BUCKETS_S = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0)
"""From the floor of a container's start to the longest job that --timeout is used for."""
NANO = 1_000_000_000

Ended = tuple[str, str, str, str]
"""Status, backend, operator, mode."""
Bucket = tuple[str, str, str, int]
"""Backend, mode, phase, index of the bucket; the one after the last is for what is longer."""
Phase = tuple[str, str, str]


class Totals:
    """Sums over some jobs."""

    def __init__(self) -> None:
        self.ended: Counter[Ended] = Counter()
        self.jobs: Counter[Bucket] = Counter()
        """Not cumulative."""
        self.nanoseconds: Counter[Bucket] = Counter()

    def add(self, verdict: Verdict) -> None:
        job = verdict.job
        backend, mode = job.environment.backend, job.mode.value
        self.ended[verdict.status.value, backend, job.op, mode] += 1
        if verdict.attempts == 0:
            return
        for name in PHASES:
            seconds = getattr(verdict.phases, f"{name}_s")
            if name == "counters" and seconds == 0.0:
                continue
            bucket = (backend, mode, name, bisect.bisect_left(BUCKETS_S, seconds))
            self.jobs[bucket] += 1
            self.nanoseconds[bucket] += round(seconds * NANO)

    def merge(self, other: Totals, sign: int = 1) -> None:
        """Adds `other`, or takes it out again."""
        for mine, theirs in (
            (self.ended, other.ended),
            (self.jobs, other.jobs),
            (self.nanoseconds, other.nanoseconds),
        ):
            for key, number in theirs.items():
                mine[key] += sign * number  # type: ignore[index]

    def phases(self) -> dict[Phase, tuple[list[int], float]]:
        """Cumulative counts for BUCKETS_S and all, and the sum in seconds."""
        found = {}
        for phase in sorted({key[:3] for key, number in self.jobs.items() if number}):
            counts, seen, spent = [], 0, 0
            for index in range(len(BUCKETS_S) + 1):
                seen += self.jobs[(*phase, index)]
                spent += self.nanoseconds[(*phase, index)]
                counts.append(seen)
            found[phase] = (counts, spent / NANO)
        return found

    def as_text(self) -> str:
        return json.dumps(
            [
                [[*key, number] for key, number in self.ended.items() if number],
                [
                    [*key, number, self.nanoseconds[key]]
                    for key, number in self.jobs.items()
                    if number
                ],
            ],
            separators=(",", ":"),
        )

    @classmethod
    def from_text(cls, text: str) -> Totals:
        found = cls()
        ended, phases = json.loads(text)
        for *key, number in ended:
            found.ended[tuple(key)] = number
        for *key, number, nanoseconds in phases:
            bucket: Bucket = tuple(key)
            found.jobs[bucket], found.nanoseconds[bucket] = number, nanoseconds
        return found
