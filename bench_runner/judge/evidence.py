# SPDX-License-Identifier: Apache-2.0
"""What the judge has before it: the executor's outcome and the artifacts, safely copied."""

from __future__ import annotations

import contextlib
from collections import Counter
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel

from bench_runner.contract.claims import Expectation, Timeline
from bench_runner.contract.job import Job
from bench_runner.contract.outcome import Collected, Outcome
from bench_runner.contract.record import ContractError, parse
from bench_runner.contract.status import Status
from bench_runner.contract.verdict import CaseTiming, Check, Counts

Model = TypeVar("Model", bound=BaseModel)
LONGEST_REASON = 500
LARGEST_REPORT = 4 << 20
"""Parsed, a report takes thirty times its size. The largest honest one has some 100 KiB."""


class ReportMissing(LookupError):
    """The session left no report."""


@dataclass(frozen=True)
class Evidence:
    """One job's end, as far as it can be seen from outside."""

    job: Job
    outcome: Outcome
    collected: Collected
    expectation: Expectation | None
    log_tail: str
    baseline_skips: frozenset[str] = frozenset()
    """Tests that are skipped without a candidate, too: only those may be skipped with one."""

    def report(self, model: type[Model], name: str = "report.json") -> Model:
        """Parses an artifact.

        Raises:
            ReportMissing: it is not there.
            ContractError: it is not what the schema says.
        """
        if name not in self.collected.names:
            raise ReportMissing(name)
        file = self.collected.folder / name
        if file.stat().st_size > LARGEST_REPORT:
            raise ContractError(f"{name}: larger than {LARGEST_REPORT >> 20} MiB")
        try:
            return parse(model, file.read_bytes(), name)
        except RecursionError as error:
            raise ContractError(f"{name}: nested too deeply") from error

    def timeline(self) -> Timeline:
        """Readings of supervisor and session together; empty where they are absent or damaged."""
        readings: dict[str, object] = {}
        for name in ("timeline.json", "supervisor.json"):
            with contextlib.suppress(ReportMissing, ContractError):
                readings.update(self.report(Timeline, name).model_dump(exclude_unset=True))
        return Timeline.model_validate(readings)


@dataclass(frozen=True)
class Finding:
    """What one mode's contract makes of the evidence."""

    checks: tuple[Check, ...]
    counts: Counts | None = None
    timings: tuple[CaseTiming, ...] = ()
    warnings: tuple[str, ...] = ()
    status: Status | None = None
    """Set where the contract itself knows a better word than PASSED or FAILED."""
    reason: str = ""


def completeness(found: list[str], expected: list[str], what: str) -> Check:
    """Whether ``found`` is ``expected``, each exactly once."""
    missing = sorted(set(expected) - set(found))
    unknown = sorted(set(found) - set(expected))
    doubled = sorted(name for name, number in Counter(found).items() if number > 1)
    problems = [
        f"{len(names)} {word} (first: {names[0]})"
        for word, names in (("missing", missing), ("unknown", unknown), ("doubled", doubled))
        if names
    ]
    if not expected:
        problems.append(f"the suite has no {what}")
    detail = "; ".join(problems) or f"all {len(expected)} {what}"
    return Check(name=f"{what} complete", ok=not problems, detail=detail)


def first_line(text: str | None) -> str:
    """The first line of a claim's message, short enough to show in a table."""
    lines = (text or "").strip().splitlines()
    return lines[0][:LONGEST_REASON] if lines else ""
