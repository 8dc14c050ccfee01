# SPDX-License-Identifier: Apache-2.0
"""``bench-runner show``: a run's table, or all that is known of one job."""

from __future__ import annotations

import json
from pathlib import Path

import click
from rich.console import Console
from rich.text import Text

from bench_runner.cli import terminal, values
from bench_runner.cli.options import FORMAT, RUNS_DIR
from bench_runner.cli.results import job_document, print_run, run_document
from bench_runner.contract.job import Job
from bench_runner.contract.verdict import Verdict
from bench_runner.errors import UsageFault
from bench_runner.store.runs import RunFolder, RunStore
from bench_runner.units import milliseconds, ratio

LOG_LINES = 40


@click.command()
@click.argument("run_name", metavar="RUN", shell_complete=values.runs)
@click.argument("job_name", metavar="[JOB]", required=False)
@RUNS_DIR
@FORMAT
def show(run_name: str, job_name: str | None, runs_dir: Path, output_format: str) -> None:
    """Show RUN (an id, a beginning of one, a folder, or latest), or one JOB of it.

    JOB is a job's id or any part of it that only one job has.
    """
    run = RunStore(runs_dir).open(run_name)
    if job_name is not None:
        job, verdict = _find(run, job_name)
        if output_format == "json":
            click.echo(json.dumps(job_document(job, verdict), indent=2))
        else:
            _print_job(terminal.data(), run, job, verdict)
    elif output_format == "json":
        click.echo(json.dumps(run_document(run), indent=2))
    else:
        print_run(run)
        terminal.talk().print(
            f"one job in full: bench-runner show {run.record.id} JOB, for example "
            f"{run.record.jobs[0].id}",
            soft_wrap=True,
        )


def _find(run: RunFolder, name: str) -> tuple[Job, Verdict | None]:
    fitting = [job for job in run.record.jobs if name in job.id]
    exact = [job for job in fitting if job.id == name] or fitting
    if len(exact) != 1:
        ids = "\n  ".join(job.id for job in (fitting or run.record.jobs))
        raise UsageFault(f"{name!r} fits {len(fitting)} jobs of {run.record.id}; jobs:\n  {ids}")
    return exact[0], run.verdict(exact[0])


def _print_job(console: Console, run: RunFolder, job: Job, verdict: Verdict | None) -> None:
    def line(name: str, value: object) -> None:
        shown = value if isinstance(value, Text) else Text(str(value))
        console.print(Text(f"{name:<12} ", style="bold") + shown, soft_wrap=True)

    line("job", job.id)
    line("folder", run.job_folder(job))
    if job.candidate:
        line("candidate", f"{job.candidate.path}:{job.candidate.function}")
        line("content", job.candidate.sha256)
        line("replaces", f"flag_gems.{job.override}")
    line("device", f"{job.environment.device} ({job.environment.executor})")
    if verdict is None:
        line("status", "not run")
        return
    line("status", Text(verdict.status.value, style=terminal.style(verdict.status)))
    if verdict.reason:
        line("why", verdict.reason)
    for warning in verdict.warnings:
        line("warning", warning)
    phases = verdict.phases
    line(
        "seconds",
        f"queue {phases.queue_s:.2f}, start {phases.start_s:.2f}, import {phases.import_s:.2f}, "
        f"pytest {phases.pytest_s:.2f}, counters {phases.counters_s:.2f}, "
        f"collect {phases.collect_s:.2f}, "
        f"judge {phases.judge_s:.2g}",
    )
    if verdict.privileges:
        line("granted", ", ".join(verdict.privileges))
    if verdict.artifacts:
        line("artifacts", ", ".join(verdict.artifacts))
    for check in verdict.checks:
        line("check" if check.ok else "NOT OK", f"{check.name}: {check.detail}".rstrip(": "))
    for timing in verdict.timings:
        line(
            ratio(timing.speedup),
            f"{milliseconds(timing.candidate_ms)} against {milliseconds(timing.baseline_ms)}"
            f"  {timing.case_id}",
        )
    _print_log(console, run.job_folder(job) / "job.log")


def _print_log(console: Console, path: Path) -> None:
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return
    console.print(Text(f"\nend of {path}", style="bold"), soft_wrap=True)
    for line in lines[-LOG_LINES:]:
        harmless = "".join(c for c in line if c.isprintable() or c == "\t")
        console.print(Text(harmless), soft_wrap=True)
