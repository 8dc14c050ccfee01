# SPDX-License-Identifier: Apache-2.0
"""The documents that a benchmark session writes, and what keeps it from being a success."""

from __future__ import annotations

from typing import Any

from .session import ACTIVITIES, BenchmarkSession

FILE_NAMES = {
    "list": "benchmark_cases",
    "preflight": "preflight_result",
    "reference": "reference_result",
    "time": "benchmark_result",
}
"""Default names of the report files; other activities write none."""


def build(state: BenchmarkSession) -> dict[str, Any]:
    """The report of the session's activity."""
    activity = state.settings.activity
    if activity == "list":
        version = "flaggems.benchmark-case-list/v2"
        return {"schema_version": version, "benchmarks": state.listed}
    if activity == "preflight":
        return {"schema_version": "flaggems.preflight/v1", "records": state.preflight}
    if activity == "reference":
        return {
            "schema_version": "flaggems.reference/v2",
            "phase": "timing",
            "status": reference_status(state.reference),
            "records": state.reference,
        }
    return state.measured


def reference_status(records: list[dict[str, Any]]) -> str:
    """One status for all records: the worst, where a test that was skipped does not count."""
    found = {record["status"] for record in records}
    for status in ("FAILED", "UNSUPPORTED"):
        if status in found:
            return status
    if not found:
        return "NO_CASES"
    # A test that was skipped halfway has said nothing as a whole, whatever passed before.
    skipped = {record["nodeid"] for record in records if record["status"] == "SKIP"}
    left = {record["status"] for record in records if record["nodeid"] not in skipped}
    if not left:
        return "ALL_SKIP"
    return "FAILED" if "NOT_RUN" in left else "PASSED"


def problems(state: BenchmarkSession) -> list[str]:
    """Why the session is no success although no test may have failed; one line each."""
    activity = state.settings.activity
    flag = ACTIVITIES.get(activity, "")
    lines = []
    if activity == "preflight":
        failed = [r["case_id"] for r in state.preflight if r["status"] != "passed"]
        if not state.preflight:
            lines.append(f"{flag}: no case was run")
        elif failed:
            lines.append(f"{flag}: {len(failed)} of {len(state.preflight)} cases failed")
    elif activity == "list" and not any(entry["cases"] for entry in state.listed):
        lines.append(f"{flag}: there is no case")
    elif activity == "reference":
        status = reference_status(state.reference)
        if status not in ("PASSED", "ALL_SKIP"):
            lines.append(f"{flag}: {status}")
    asked = set(state.settings.case_ids or ())
    if unknown := sorted(asked - state.available):
        lines.append(f"unknown --case-id: {', '.join(unknown)} (see --list-cases)")
    if unexecuted := sorted((asked & state.available) - state.executed):
        lines.append(f"--case-id not executed: {', '.join(unexecuted)}")
    return lines
