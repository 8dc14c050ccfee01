# SPDX-License-Identifier: Apache-2.0
"""Profile: the collecting scope was entered and left exactly once, and the trace is there."""

from __future__ import annotations

import re

from bench_runner.contract.claims import CountersClaim, ProfileClaim
from bench_runner.contract.verdict import Check
from bench_runner.judge.evidence import Evidence, Finding, ReportMissing, first_line

EVENTS = re.compile(rb'"traceEvents"\s*:\s*\[\s*\{')


def examine(evidence: Evidence) -> Finding:
    """Holds the plug-in's claim and its artifacts against the job."""
    claim = evidence.report(ProfileClaim, "profile.json")
    environment = evidence.job.environment
    case = evidence.job.settings.profile_case
    known = evidence.expectation.cases.case_ids if evidence.expectation else []
    case_ok = claim.case_id == case if case else claim.case_id in known
    once = claim.entered == 1 and claim.exited == 1
    trace = _trace_problem(evidence)
    return Finding(
        checks=(
            Check(
                name="scope entered and left once",
                ok=once,
                detail=f"entered {claim.entered}, left {claim.exited} times",
            ),
            Check(
                name="backend",
                ok=claim.backend == environment.vendor,
                detail=claim.backend,
            ),
            Check(name="case", ok=case_ok, detail=claim.case_id),
            Check(name="trace", ok=not trace, detail=trace or "trace.json"),
            Check(
                name="table of operators",
                ok="operators.txt" in evidence.collected.names,
                detail="operators.txt",
            ),
        ),
        warnings=_counters_missing(evidence),
    )


def _counters_missing(evidence: Evidence) -> tuple[str, ...]:
    """A job may do without hardware counters, but not in silence."""
    try:
        claim = evidence.report(CountersClaim, "counters.json")
    except ReportMissing:
        return ()
    if claim.collected and "counters.csv" not in evidence.collected.names:
        return (f"no hardware counters: {claim.profiler} left no counters.csv",)
    return () if claim.collected else (f"no hardware counters: {first_line(claim.reason)}",)


def _trace_problem(evidence: Evidence) -> str:
    if "trace.json" not in evidence.collected.names:
        return "trace.json is not there"
    # Looked at, not parsed: a trace may have 64 MiB, which would take gigabytes as objects.
    text = (evidence.collected.folder / "trace.json").read_bytes().strip()
    if not (text.startswith(b"{") and text.endswith(b"}")):
        return "trace.json is not a Chrome trace"
    return "" if EVENTS.search(text) else "trace.json has no events"
