# SPDX-License-Identifier: Apache-2.0
"""One run as one HTML file: candidates of an operator side by side, worst case first.

Everything a candidate could have written passes through Jinja's autoescape, and the page holds no
script.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from bench_runner.contract.job import Candidate, Job
from bench_runner.contract.status import Mode, Status
from bench_runner.contract.verdict import CaseTiming, Verdict
from bench_runner.store.runs import RunFolder
from bench_runner.units import milliseconds, ratio

HERE = Path(__file__).parent


@dataclass(frozen=True)
class CandidateView:
    """All jobs of one candidate of one operator."""

    op: str
    candidate: Candidate | None
    override: str | None
    jobs: list[tuple[Job, Verdict | None]]

    @property
    def title(self) -> str:
        return self.candidate.label if self.candidate else "baseline alone"

    @property
    def speedup(self) -> float | None:
        """Of a candidate that passed in every mode: how fast a wrong result comes is no matter."""
        if self.status != Status.PASSED.value:
            return None
        return next((v.speedup for _, v in self.jobs if v and v.speedup), None)

    @property
    def status(self) -> str:
        """The candidate is as good as its worst job."""
        statuses = [verdict.status if verdict else None for _, verdict in self.jobs]
        bad = [s for s in statuses if s and not s.is_good and s is not Status.CANCELLED]
        if bad:
            return bad[0].value
        if None in statuses:
            return "not run"
        other = [s for s in statuses if s and s is not Status.PASSED]
        return (other[0] if other else Status.PASSED).value

    @property
    def reason(self) -> str:
        reasons = [
            (verdict.status is Status.CANCELLED, f"{job.mode.value}: {verdict.reason}")
            for job, verdict in self.jobs
            if verdict and verdict.reason
        ]
        return min(reasons)[1] if reasons else ""

    @property
    def unsure(self) -> str:
        """Why measured times carry no speed-up; empty where they do."""
        verdicts = [verdict for _, verdict in self.jobs if verdict and verdict.timings]
        return next((v.warnings[0] for v in verdicts if not v.speedup and v.warnings), "")

    @property
    def timings(self) -> list[CaseTiming]:
        """Worst case first."""
        found = [t for _, verdict in self.jobs if verdict for t in verdict.timings]
        return sorted(found, key=lambda timing: timing.speedup)

    @property
    def largest_ms(self) -> float:
        return max(max(t.baseline_ms, t.candidate_ms) for t in self.timings)

    @property
    def rank(self) -> tuple[bool, float]:
        """Right ones first, fastest first among them."""
        return (self.status != Status.PASSED.value, -(self.speedup or 0.0))


def render(run: RunFolder) -> str:
    """The page's text."""
    environment = Environment(
        loader=FileSystemLoader(HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["ms"] = milliseconds
    environment.filters["ratio"] = ratio
    views = _views(run.verdicts())
    operators = [(op, sorted(group, key=lambda v: v.rank)) for op, group in _by_operator(views)]
    return environment.get_template("run.html.j2").render(
        record=run.record,
        command=shlex.join(run.record.command),
        place=run.record.jobs[0].environment,
        operators=operators,
        counts=_counts(views),
        modes=[mode for mode in Mode if any(job.mode is mode for job in run.record.jobs)],
        style=(HERE / "style.css").read_text(encoding="utf-8"),
    )


def _views(rows: list[tuple[Job, Verdict | None]]) -> list[CandidateView]:
    def who(row: tuple[Job, Verdict | None]) -> tuple[str, Candidate | None, str | None]:
        return row[0].op, row[0].candidate, row[0].override

    views: dict[tuple[str, Candidate | None, str | None], CandidateView] = {}
    for row in rows:
        view = views.setdefault(who(row), CandidateView(*who(row), []))
        view.jobs.append(row)
    return list(views.values())


def _by_operator(views: list[CandidateView]) -> list[tuple[str, list[CandidateView]]]:
    ordered = sorted(views, key=lambda view: view.op)
    return [(op, list(group)) for op, group in groupby(ordered, key=lambda view: view.op)]


def _counts(views: list[CandidateView]) -> list[tuple[str, int]]:
    statuses = [view.status for view in views]
    return [(status, statuses.count(status)) for status in dict.fromkeys(sorted(statuses))]
