# SPDX-License-Identifier: Apache-2.0
"""Correctness: every accuracy test that was not skipped passed, and called the candidate."""

from __future__ import annotations

from bench_runner.contract.claims import CorrectnessReport
from bench_runner.contract.record import ContractError
from bench_runner.contract.status import Status
from bench_runner.contract.verdict import Check, Counts
from bench_runner.judge.evidence import (
    Evidence,
    Finding,
    ReportMissing,
    completeness,
    first_line,
)

PASSED = frozenset({"passed", "xpassed"})
SKIPPED = frozenset({"skipped", "xfailed"})


def claims_skips(evidence: Evidence) -> bool:
    """Whether the report has a skipped test, so that somebody has to find out why."""
    try:
        report = evidence.report(CorrectnessReport).root
    except (ReportMissing, ContractError):
        return False
    return any(case.result.lower() in SKIPPED for case in report.values())


def examine(evidence: Evidence) -> Finding:
    """Holds a correctness report against the list of tests."""
    assert evidence.expectation is not None
    report = evidence.report(CorrectnessReport).root
    outcomes = {nodeid: case.result.lower() for nodeid, case in report.items()}
    skipped = [nodeid for nodeid, result in outcomes.items() if result in SKIPPED]
    ran = [nodeid for nodeid, result in outcomes.items() if result not in SKIPPED]
    failed = [nodeid for nodeid in ran if outcomes[nodeid] not in PASSED]
    unexplained = [
        nodeid
        for nodeid in skipped
        if nodeid not in evidence.baseline_skips or report[nodeid].candidate_calls
    ]
    uncalled = [nodeid for nodeid in ran if not report[nodeid].candidate_calls]
    expected = list(evidence.expectation.tests)
    checks = (
        Check(
            name="candidate called",
            ok=not uncalled,
            detail=(
                f"not called in {len(uncalled)} of {len(ran)} tests; first: {uncalled[0]}"
                if uncalled
                else f"in {len(ran)} tests"
            ),
        ),
        Check(
            name="tests passed",
            ok=not failed,
            detail=(
                f"{len(failed)} of {len(ran)} tests failed; first: {failed[0]}: "
                f"{first_line(report[failed[0]].reason) or 'no message'}"
                if failed
                else f"{len(ran)} tests"
            ),
        ),
        Check(
            name="skips explained",
            ok=not unexplained,
            detail=(
                f"{len(unexplained)} tests were skipped that are not skipped without the "
                f"candidate; first: {unexplained[0]}"
                if unexplained
                else f"{len(skipped)} skipped, with and without the candidate"
            ),
        ),
        completeness(list(report), expected, "tests"),
    )
    counts = Counts(
        expected=len(expected),
        passed=len(ran) - len(failed),
        failed=len(failed),
        skipped=len(skipped),
    )
    if report and not ran:
        reason = f"all {len(skipped)} tests were skipped; first: " + (
            first_line(report[skipped[0]].reason) or "no reason given"
        )
        return Finding(checks, counts, status=Status.ALL_SKIP, reason=reason)
    return Finding(checks, counts)
