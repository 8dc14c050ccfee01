# SPDX-License-Identifier: Apache-2.0
"""A run as a table and as one JSON document."""

from __future__ import annotations

from typing import Any

from rich.table import Table
from rich.text import Text

from bench_runner.cli.terminal import data, print_table, style
from bench_runner.contract.job import Job
from bench_runner.contract.status import exit_code
from bench_runner.contract.verdict import Verdict
from bench_runner.scheduler import summary
from bench_runner.store.runs import RunFolder
from bench_runner.units import ratio

PHASES = ("start s", "import s", "pytest s", "collect s")
FULL_WIDTH = 140
"""Columns from which every cell of the table has room."""


def run_document(run: RunFolder) -> dict[str, Any]:
    """What ``--format json`` prints of a run."""
    rows = run.verdicts()
    return {
        "schema_version": "bench-runner.result/v1",
        "run": run.record.id,
        "folder": str(run.path),
        "executor_note": run.record.executor_note,
        "environment": run.record.jobs[0].environment.model_dump(mode="json"),
        "complete": all(verdict is not None for _, verdict in rows),
        "counts": {s.value: n for s, n in summary([v for _, v in rows]).items()},
        "exit_code": int(exit_code(v.status for _, v in rows if v)),
        "jobs": [job_document(job, verdict) for job, verdict in rows],
    }


def job_document(job: Job, verdict: Verdict | None) -> dict[str, Any]:
    """One job; ``verdict`` is null while it has none."""
    return {
        "id": job.id,
        "op": job.op,
        "mode": job.mode.value,
        "candidate": job.candidate.model_dump(mode="json") if job.candidate else None,
        "status": verdict.status.value if verdict else None,
        "verdict": verdict.model_dump(mode="json", exclude={"job"}) if verdict else None,
    }


def print_run(run: RunFolder) -> None:
    """The table of a run: a line for each job, candidates set apart.

    On a narrow terminal the seconds are left to ``show RUN JOB`` and the reasons come below.
    """
    narrow = data().width < FULL_WIDTH
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("operator", no_wrap=True)
    table.add_column("candidate", overflow="fold", no_wrap=not narrow)
    for name in ("mode", "status"):
        table.add_column(name, no_wrap=True)
    for name in ("cases", "speed-up", *(() if narrow else PHASES)):
        table.add_column(name, justify="right", no_wrap=True)
    if not narrow:
        table.add_column("why", overflow="fold")
    previous: tuple[str, str] | None = None
    for job, verdict in run.verdicts():
        who = (job.op, job.candidate.label if job.candidate else "(baseline)")
        if previous is not None and who != previous:
            table.add_section()
        shown = who if who != previous else ("", "")
        previous = who
        cells = _cells(verdict)
        table.add_row(*map(Text, shown), job.mode.value, *(cells[:3] if narrow else cells))
    print_table(table)
    if narrow:
        for job, verdict in run.verdicts():
            if verdict and verdict.reason and verdict.attempts:
                name = job.candidate.label if job.candidate else "(baseline)"
                data().print(Text(f"\n{job.op} {name} {job.mode.value}: {verdict.reason}"))


def _cells(verdict: Verdict | None) -> list[Text]:
    if verdict is None:
        return [Text("not run", style="dim")] + [Text("")] * 7
    counts = verdict.counts
    cases = ""
    if counts:
        cases = f"{counts.passed}/{counts.expected}"
        cases += f" ({counts.skipped} skipped)" if counts.skipped else ""
    phases = verdict.phases
    ran = verdict.attempts > 0
    seconds = [phases.start_s, phases.import_s, phases.pytest_s, phases.collect_s]
    why = verdict.reason or next(iter(verdict.warnings), "")
    return [
        Text(verdict.status.value, style=style(verdict.status)),
        Text(cases),
        Text(ratio(verdict.speedup) if verdict.speedup else ""),
        *(Text(f"{value:.2f}" if ran else "") for value in seconds),
        Text(why),
    ]
