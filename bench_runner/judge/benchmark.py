# SPDX-License-Identifier: Apache-2.0
"""Benchmark: every case timed the injected candidate; the speed-ups are computed here."""

from __future__ import annotations

import json
import math
from typing import Any

from bench_runner.contract.claims import BenchmarkReport, Measurement
from bench_runner.contract.outcome import Outcome
from bench_runner.contract.verdict import CaseTiming, Check, Counts
from bench_runner.judge.evidence import Evidence, Finding, completeness, first_line

NOISY_SPREAD = 0.1
"""Interquartile range over median from which a latency is called noisy. A quarter of the samples
then differs from the middle by more than 5%, which is more than most kernels differ by."""
UNRELIABLE_SPREAD = 0.5
"""From here on the samples come from different regimes (another process took the cores, a clock
changed): their median says which regime was met more often, not how fast the kernel is."""
CROWDED_CORES = 0.25
"""Cores that others may keep busy: runner, engine and a desktop take about a tenth of one."""
MOST_CLAIMED_WARNINGS = 5
SHORTEST_MS, LONGEST_MS = 1e-6, 1e8
"""A nanosecond and a day: no clock here tells less, no job lasts longer."""


def examine(evidence: Evidence) -> Finding:
    """Holds a benchmark report against the case list."""
    assert evidence.expectation is not None
    report = evidence.report(BenchmarkReport).root
    op = evidence.job.op
    outcome = report.get(op)
    expected = evidence.expectation.cases.case_ids
    details = outcome.details if outcome else []
    measured = [(detail.dtype, m) for detail in details for m in detail.result]
    timings = [t for t in (_timing(dtype, m) for dtype, m in measured) if t is not None]
    broken = [m for dtype, m in measured if _timing(dtype, m) is None]
    not_injected = [m.case_id for _, m in measured if m.candidate_source != "override"]
    other = sorted({d.op_name for d in details if d.op_name != op} | (set(report) - {op}))
    checks = (
        Check(
            name="operator",
            ok=outcome is not None and not other,
            detail=f"reports {', '.join(other)}" if other else op,
        ),
        Check(
            name="every case timed",
            ok=not broken,
            detail=(
                f"{len(broken)} of {len(measured)} cases have no latency; first: "
                f"{first_line(broken[0].error) or 'no message'} ({broken[0].case_id})"
                if broken
                else f"{len(timings)} cases"
            ),
        ),
        Check(
            name="candidate timed",
            ok=not not_injected,
            detail=(
                f"candidate_source is not 'override' in {len(not_injected)} cases; "
                f"first: {not_injected[0]}"
                if not_injected
                else ""
            ),
        ),
        completeness([m.case_id for _, m in measured], expected, "cases"),
    )
    claimed = sorted({warning[:200] for _, m in measured for warning in m.warnings})
    return Finding(
        checks,
        Counts(expected=len(expected), passed=len(timings), failed=len(broken)),
        tuple(timings),
        (*noise(timings), *crowd(evidence.outcome), *claimed[:MOST_CLAIMED_WARNINGS]),
    )


def crowd(outcome: Outcome) -> list[str]:
    """What to say of other processes on the machine; empty where there was hardly any."""
    cores = outcome.foreign_cores
    if cores is None or cores <= CROWDED_CORES:
        return []
    return [f"other processes kept {cores:.2g} cores of the machine busy while it was measured"]


def noise(timings: list[CaseTiming]) -> list[str]:
    """What to say of the samples' spread; empty where they are quiet."""
    spreads = [spread(timing) for timing in timings]
    for limit, consequence in (
        (UNRELIABLE_SPREAD, "so no speed-up is stated; is the machine busy with something else?"),
        (NOISY_SPREAD, "so small differences mean nothing"),
    ):
        over = sum(value > limit for value in spreads)
        if over:
            return [f"noisy: {over} of {len(spreads)} cases spread over {limit:.0%}, {consequence}"]
    return []


def overall_speedup(timings: tuple[CaseTiming, ...], vendor: str, outcome: Outcome) -> float | None:
    """Geometric mean of the speed-ups; None where the measurements cannot carry one.

    That is a case too noisy to say anything, or on the CPU a machine shared with other work.
    """
    if vendor == "cpu" and crowd(outcome):
        return None
    if any(spread(timing) > UNRELIABLE_SPREAD for timing in timings):
        return None
    return geometric_mean([timing.speedup for timing in timings])


def spread(timing: CaseTiming) -> float:
    """The larger relative spread of the two sides; 0 where the report states none."""
    return max(timing.baseline_spread or 0.0, timing.candidate_spread or 0.0)


def geometric_mean(values: list[float]) -> float:
    """Of ratios, so that 2x and 0.5x cancel out."""
    return math.exp(math.fsum(math.log(value) for value in values) / len(values))


def _timing(dtype: str, m: Measurement) -> CaseTiming | None:
    if m.error or m.status == "failed" or m.latency is None or m.latency_base is None:
        return None
    times = (m.latency, m.latency_base, *m.blocks, *m.blocks_base)
    if not all(SHORTEST_MS <= value <= LONGEST_MS for value in times):
        return None
    return CaseTiming(
        case_id=m.case_id,
        dtype=m.dtype or dtype,
        shape=_text(m.shape),
        params=", ".join(f"{name}={_text(value)}" for name, value in (m.params or {}).items())[
            :200
        ],
        baseline_ms=m.latency_base,
        candidate_ms=m.latency,
        baseline_spread=m.spread_base,
        candidate_spread=m.spread,
        samples=m.samples,
        baseline_blocks_ms=tuple(m.blocks_base),
        candidate_blocks_ms=tuple(m.blocks),
    )


def _text(shape: Any) -> str:
    return shape[:200] if isinstance(shape, str) else json.dumps(shape)[:200]
