# SPDX-License-Identifier: Apache-2.0
"""``bench-runner reindex``: the index of a store from nothing but its folders."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from bench_runner.cli import terminal
from bench_runner.cli.options import FORMAT, RUNS_DIR
from bench_runner.contract.status import ExitCode
from bench_runner.errors import UsageFault
from bench_runner.store.view import StoreView


@click.command()
@RUNS_DIR
@FORMAT
def reindex(runs_dir: Path, output_format: str) -> None:
    """Build the index of a folder of runs anew. Nothing but the index is written.

    The index follows the folders by itself; this is for whoever changed records by hand. Exit code
    3 if a run cannot be read.
    """
    if not runs_dir.is_dir():
        raise UsageFault(f"{runs_dir} is not a folder; name the runs with --runs-dir")
    view = StoreView(runs_dir, lambda line: None)
    view.rebuild()
    view.measure()
    problems, jobs = view.unreadable, sum(view.totals().ended.values())
    if output_format == "json":
        document = {
            "runs": view.count_runs(),
            "jobs_with_a_verdict": jobs,
            "bytes": view.size(),
            "unreadable": problems,
        }
        click.echo(json.dumps(document, indent=2))
    else:
        click.echo(f"{view.count_runs()} runs, {jobs} jobs with a verdict, {view.size()} bytes")
    for problem in problems.values():
        terminal.talk().print(f"left out: {problem}", soft_wrap=True)
    if problems:
        sys.exit(ExitCode.INFRASTRUCTURE)
