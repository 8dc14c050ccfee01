# SPDX-License-Identifier: Apache-2.0
"""Two benchmarks of one operator against each other, case by case.

Opinionated: a difference is stated only where the middle halves of the two sides' samples do not
overlap, an overall figure only over the cases that both have, and none at all where the two were
measured in places that differ.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from bench_runner.contract.status import Mode
from bench_runner.contract.verdict import CaseTiming, Verdict
from bench_runner.judge.benchmark import geometric_mean


@dataclass(frozen=True)
class CaseComparison:
    """One case that both sides measured."""

    a: CaseTiming
    b: CaseTiming

    @property
    def ratio(self) -> float:
        """How many times as fast B is as A."""
        return self.a.candidate_ms / self.b.candidate_ms

    @property
    def faster(self) -> str:
        """``A``, ``B``, or ``~`` where their middle halves overlap or a spread is unknown."""
        a, b = _middle_half(self.a), _middle_half(self.b)
        if a is None or b is None:
            return "~"
        if a[1] < b[0]:
            return "A"
        return "B" if b[1] < a[0] else "~"


@dataclass(frozen=True)
class Comparison:
    """Everything that can be said of two benchmarks."""

    cases: tuple[CaseComparison, ...]
    """Where A is ahead comes first."""
    only_a: tuple[CaseTiming, ...]
    only_b: tuple[CaseTiming, ...]
    differences: tuple[str, ...]
    """What makes the latencies of the two not comparable: device, versions and so on."""

    @property
    def ratio(self) -> float | None:
        """Geometric mean of the cases that both have; None where it would mean nothing."""
        if self.differences or not self.cases:
            return None
        return geometric_mean([case.ratio for case in self.cases])

    @property
    def total(self) -> int:
        """Cases that at least one of the two has."""
        return len(self.cases) + len(self.only_a) + len(self.only_b)

    def wins(self, side: str) -> int:
        return sum(case.faster == side for case in self.cases)


def compare(a: Verdict, b: Verdict) -> Comparison:
    """Compares two benchmark verdicts of one operator.

    Raises:
        ValueError: one is not of a benchmark, or they are of two operators.
    """
    if {a.job.mode, b.job.mode} != {Mode.BENCHMARK}:
        raise ValueError("only benchmarks can be compared")
    if a.job.op != b.job.op:
        raise ValueError(f"{a.job.op} and {b.job.op} are two operators")
    of_a = {timing.case_id: timing for timing in a.timings}
    of_b = {timing.case_id: timing for timing in b.timings}
    both = [CaseComparison(of_a[case], of_b[case]) for case in of_a if case in of_b]
    return Comparison(
        tuple(sorted(both, key=lambda case: case.ratio)),
        tuple(timing for case, timing in of_a.items() if case not in of_b),
        tuple(timing for case, timing in of_b.items() if case not in of_a),
        _differences(a, b),
    )


def _middle_half(timing: CaseTiming) -> tuple[float, float] | None:
    if timing.candidate_spread is None:
        return None
    half = timing.candidate_ms * timing.candidate_spread / 2
    return timing.candidate_ms - half, timing.candidate_ms + half


def _shown(fact: str | None) -> str:
    """Hashes in the 12 digits that tell them apart."""
    if fact is None:
        return "none"
    return re.sub(r"\b([0-9a-f]{12})[0-9a-f]{52}\b", r"\1", fact)


def _differences(a: Verdict, b: Verdict) -> tuple[str, ...]:
    one, other = a.job.environment, b.job.environment
    found = [
        f"{name}: {_shown(getattr(one, name))} and {_shown(getattr(other, name))}"
        for name in ("backend", "device", "executor", "image_id", "suite")
        if getattr(one, name) != getattr(other, name)
    ]
    found += [
        f"{name}: {one.versions.get(name, 'none')} and {other.versions.get(name, 'none')}"
        for name in sorted(one.versions.keys() | other.versions.keys())
        if one.versions.get(name) != other.versions.get(name)
    ]
    found += [
        f"{name}: {getattr(a.job.settings, name)} and {getattr(b.job.settings, name)}"
        for name in ("warmup_ms", "iter_ms")
        if getattr(a.job.settings, name) != getattr(b.job.settings, name)
    ]
    return tuple(found)
