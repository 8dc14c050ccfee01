# SPDX-License-Identifier: Apache-2.0
"""Preflight: every case called the injected candidate exactly once, and none raised."""

from __future__ import annotations

from bench_runner.contract.claims import PreflightReport
from bench_runner.contract.verdict import Check, Counts
from bench_runner.judge.evidence import Evidence, Finding, completeness, first_line


def examine(evidence: Evidence) -> Finding:
    """Holds a preflight report against the case list."""
    assert evidence.expectation is not None
    report = evidence.report(PreflightReport)
    expected = evidence.expectation.cases.case_ids
    records = report.records
    failed = [record for record in records if record.status == "failed"]
    # A case whose inputs could not be built called nothing at all, and has failed for that.
    invoked = [record for record in records if record.count > 0 or record.status == "passed"]
    not_injected = [record.case_id for record in invoked if not record.override]
    wrong_operator = [r.operator for r in records if r.operator != evidence.job.op]
    miscounted = [r for r in records if r.status == "passed" and r.count != 1]
    return Finding(
        checks=(
            Check(
                name="operator",
                ok=not wrong_operator,
                detail=f"reports {wrong_operator[0]!r}" if wrong_operator else evidence.job.op,
            ),
            Check(
                name="candidate injected",
                ok=bool(records) and not not_injected,
                detail=(
                    f"candidate was not called in {len(not_injected)} of {len(invoked)} cases: "
                    f"it stands in flag_gems.{evidence.job.override}, the suite calls "
                    f"flag_gems.{evidence.job.op}"
                    if not_injected
                    else f"in {len(records)} cases"
                ),
            ),
            Check(
                name="every case ran",
                ok=not failed,
                detail=(
                    f"{len(failed)} of {len(records)} cases failed; first: "
                    f"{first_line(failed[0].error) or 'no message'} ({failed[0].case_id})"
                    if failed
                    else f"{len(records)} cases"
                ),
            ),
            Check(
                name="one call a case",
                ok=not miscounted,
                detail=(
                    f"{miscounted[0].count} calls in {miscounted[0].case_id}" if miscounted else ""
                ),
            ),
            completeness([record.case_id for record in records], expected, "cases"),
        ),
        counts=Counts(
            expected=len(expected), passed=len(records) - len(failed), failed=len(failed)
        ),
    )
