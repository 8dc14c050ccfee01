# SPDX-License-Identifier: Apache-2.0
"""Reference: the baseline alone could be invoked in every case."""

from __future__ import annotations

from bench_runner.contract.claims import ReferenceReport
from bench_runner.contract.status import Status
from bench_runner.contract.verdict import Check, Counts
from bench_runner.judge.evidence import Evidence, Finding, completeness, first_line


def examine(evidence: Evidence) -> Finding:
    """Reads a reference report. No candidate was there, but a report is still checked."""
    assert evidence.expectation is not None
    report = evidence.report(ReferenceReport)
    records = report.records
    expected = evidence.expectation.cases.case_ids
    failed = [r for r in records if r.status != "PASSED"]
    counts = Counts(
        expected=len(expected),
        passed=len(records) - len(failed),
        failed=sum(r.status in ("FAILED", "NOT_RUN") for r in records),
        skipped=sum(r.status == "SKIP" for r in records),
    )
    why = ""
    if failed:
        first = failed[0]
        failure = first.failure
        told = first_line(failure.message if failure else first.reason)
        why = f"{first.status}"
        why += f" {failure.category}" if failure else ""
        why += f" at {first.stage}" if first.stage else ""
        why += f": {told or 'no message'} ({first.case_id})"
    complete = completeness([r.case_id or "" for r in records], expected, "cases")
    if report.status == "ALL_SKIP":
        return Finding((complete,), counts, status=Status.ALL_SKIP, reason=why or "all skipped")
    if report.status == "UNSUPPORTED":
        # Such a benchmark enumerates no case to be complete about.
        return Finding((), counts, status=Status.UNSUPPORTED, reason=why or "unsupported")
    return Finding(
        checks=(
            Check(
                name="every baseline ran",
                ok=not failed and report.status == "PASSED",
                detail=(
                    f"{len(failed)} of {len(records)} cases; first {why}"
                    if failed
                    else f"report says {report.status}"
                ),
            ),
            complete,
        ),
        counts=counts,
    )
