# SPDX-License-Identifier: Apache-2.0
"""Telling a person how a run gets on: a live display on a terminal, a line a job elsewhere."""

from __future__ import annotations

from types import TracebackType

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

from bench_runner.cli.terminal import style
from bench_runner.contract.job import Job
from bench_runner.contract.verdict import Verdict


class LiveProgress:
    """Implements ``scheduler.Listener``; a context manager around the run."""

    def __init__(self, console: Console, total: int) -> None:
        self._console = console
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=30),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._total = total
        self._overall = self._progress.add_task("jobs", total=total)
        self._tasks: dict[str, TaskID] = {}
        self._ended = 0

    def __enter__(self) -> LiveProgress:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()

    def started(self, job: Job) -> None:
        self._tasks[job.key] = self._progress.add_task(f"  {describe(job)}", total=None)

    def ended(self, job: Job, verdict: Verdict | None) -> None:
        task = self._tasks.pop(job.key, None)
        if task is not None:
            self._progress.remove_task(task)
        self._progress.advance(self._overall)
        self._ended += 1
        word, colour = (
            ("interrupted", "dim")
            if verdict is None
            else (
                verdict.status.value,
                style(verdict.status),
            )
        )
        seconds = f" {verdict.phases.total_s:.1f} s" if verdict and verdict.attempts else ""
        self._console.print(
            Text(f"[{self._ended}/{self._total}] {describe(job)} ")
            + Text(word, style=colour)
            + Text(seconds),
            soft_wrap=True,
        )


def describe(job: Job) -> str:
    who = job.candidate.label if job.candidate else "baseline"
    return f"{job.op} {who} {job.mode.value}"
