# SPDX-License-Identifier: Apache-2.0
"""Two benchmarks of one operator against each other, case by case.

Opinionated. A difference is stated only where a rank test finds it among all cases together at 5%
(judge.rank_test). What is counted are not single samples, which follow each other's errors, but
blocks of them, between which baseline and candidate took turns; and runs, where both sides have
enough of those, since one run does not know how much the next one differs. An overall figure is
stated only over the cases that both have, and none where they were measured in different places.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bench_runner.contract.status import Mode
from bench_runner.contract.verdict import CaseTiming, Verdict
from bench_runner.judge.benchmark import geometric_mean
from bench_runner.judge.rank_test import ALPHA, Estimate, estimate, holm, rank_sum_p

ENOUGH_RUNS = 5
"""Runs of each side from which those are counted: with four, no test can be sure at 5% of a few
cases together."""
DRIFT = 0.05
"""By how much the baseline may differ between the two sides before the machine is suspected."""


@dataclass(frozen=True)
class CaseComparison:
    """One case that both sides measured. Times in milliseconds."""

    timing: CaseTiming
    """Of A; it names the case."""
    a: Estimate
    b: Estimate
    p: float | None
    """Adjusted for the number of cases; None where a side recorded too little to test."""

    @property
    def ratio(self) -> float:
        """How many times as fast B is as A."""
        return self.a.median / self.b.median

    @property
    def faster(self) -> str:
        """``A``, ``B``, or ``~`` where it is undecided."""
        if self.p is None or self.p > ALPHA:
            return "~"
        return "A" if self.ratio < 1 else "B"


@dataclass(frozen=True)
class Comparison:
    """Everything that can be said of two benchmarks."""

    cases: tuple[CaseComparison, ...]
    """Where A is ahead comes first."""
    only_a: tuple[CaseTiming, ...]
    only_b: tuple[CaseTiming, ...]
    differences: tuple[str, ...]
    """What makes the latencies of the two not comparable: device, versions and so on."""
    unit: str
    """What n counts: ``blocks`` or ``runs``."""
    warnings: tuple[str, ...]

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

    def document(self) -> dict[str, Any]:
        """All of it as JSON. `ratio`: how many times as fast B is as A."""
        return {
            "differences": list(self.differences),
            "warnings": list(self.warnings),
            "unit": self.unit,
            "ratio": self.ratio,
            "compared": len(self.cases),
            "total": self.total,
            "cases": [
                {
                    "case_id": case.timing.case_id,
                    "a_ms": case.a.median,
                    "a_interval_ms": [case.a.low, case.a.high],
                    "a_n": case.a.n,
                    "b_ms": case.b.median,
                    "b_interval_ms": [case.b.low, case.b.high],
                    "b_n": case.b.n,
                    "ratio": case.ratio,
                    "p": case.p,
                    "faster": case.faster,
                }
                for case in self.cases
            ],
            "only_a": [timing.case_id for timing in self.only_a],
            "only_b": [timing.case_id for timing in self.only_b],
        }


def compare(
    a: Verdict, b: Verdict, more_a: Sequence[Verdict] = (), more_b: Sequence[Verdict] = ()
) -> Comparison:
    """Compares two benchmark verdicts of one operator.

    Args:
        more_a, more_b: other benchmarks of the same candidates. Those count that were measured in
            the same place as `a` or `b` and have all of its cases.

    Raises:
        ValueError: one is not of a benchmark, or they are of two operators.
    """
    if {a.job.mode, b.job.mode} != {Mode.BENCHMARK}:
        raise ValueError("only benchmarks can be compared")
    if a.job.op != b.job.op:
        raise ValueError(f"{a.job.op} and {b.job.op} are two operators")
    runs_a, runs_b = _alike(a, more_a), _alike(b, more_b)
    by_runs = min(len(runs_a), len(runs_b)) >= ENOUGH_RUNS
    of_a = {timing.case_id: timing for timing in a.timings}
    of_b = {timing.case_id: timing for timing in b.timings}
    shared = [case for case in of_a if case in of_b]
    values = [
        (
            _values(of_a[case], runs_a if by_runs else []),
            _values(of_b[case], runs_b if by_runs else []),
        )
        for case in shared
    ]
    tests = [rank_sum_p(*pair) if all(pair) else None for pair in values]
    adjusted = iter(holm([p for p in tests if p is not None]))
    cases = [
        CaseComparison(
            of_a[case],
            estimate(ours or [of_a[case].candidate_ms]),
            estimate(theirs or [of_b[case].candidate_ms]),
            None if p is None else next(adjusted),
        )
        for case, (ours, theirs), p in zip(shared, values, tests, strict=True)
    ]
    return Comparison(
        tuple(sorted(cases, key=lambda case: case.ratio)),
        tuple(timing for case, timing in of_a.items() if case not in of_b),
        tuple(timing for case, timing in of_b.items() if case not in of_a),
        differences(a, b),
        "runs" if by_runs else "blocks",
        tuple(_warnings(of_a, of_b, shared, by_runs, None in tests)),
    )


def _alike(verdict: Verdict, others: Sequence[Verdict]) -> list[dict[str, CaseTiming]]:
    """The cases by id of each run that counts, the verdict's own first."""
    own = {timing.case_id: timing for timing in verdict.timings}
    found = [own]
    for other in others:
        cases = {timing.case_id: timing for timing in other.timings}
        if other != verdict and own.keys() <= cases.keys() and not differences(verdict, other):
            found.append(cases)
    return found


def _values(timing: CaseTiming, runs: list[dict[str, CaseTiming]]) -> list[float]:
    if runs:
        return [cases[timing.case_id].candidate_ms for cases in runs]
    return list(timing.candidate_blocks_ms)


def _warnings(
    a: dict[str, CaseTiming],
    b: dict[str, CaseTiming],
    shared: list[str],
    by_runs: bool,
    untested: bool,
) -> list[str]:
    found = []
    if untested:
        found.append("older benchmarks recorded no blocks: their cases stay undecided")
    if shared and not by_runs:
        found.append(
            f"how much a candidate differs from run to run is not in this; with {ENOUGH_RUNS} runs "
            "of each side it would be"
        )
        drift = statistics.median(b[case].baseline_ms / a[case].baseline_ms for case in shared)
        if abs(drift - 1) > DRIFT:
            found.append(
                f"the baseline took {drift:.2f} times as long beside B as beside A: the machine "
                "changed, and by that much the times mean less than the speed-ups"
            )
    return found


def _shown(fact: str | None) -> str:
    """Hashes in the 12 digits that tell them apart."""
    if fact is None:
        return "none"
    return re.sub(r"\b([0-9a-f]{12})[0-9a-f]{52}\b", r"\1", fact)


def differences(a: Verdict, b: Verdict) -> tuple[str, ...]:
    """What makes the latencies of two benchmarks not comparable."""
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
