# SPDX-License-Identifier: Apache-2.0
"""``bench-runner list``: the runs of a folder, newest first."""

from __future__ import annotations

import json
from pathlib import Path

import click
from rich.table import Table

from bench_runner.cli import terminal
from bench_runner.cli.options import FORMAT, RUNS_DIR
from bench_runner.contract.status import Status
from bench_runner.store.view import StoreView


@click.command(name="list")
@RUNS_DIR
@FORMAT
def list_runs(runs_dir: Path, output_format: str) -> None:
    """List the runs in a folder, newest first. A damaged run is named and left out."""
    view = StoreView(runs_dir)
    view.refresh()
    for problem in view.unreadable.values():
        terminal.talk().print(f"left out: {problem}", soft_wrap=True)
    _, runs = view.find_runs()
    rows = [
        {
            "run": run.id,
            "created_at": run.created_at,
            "backend": run.backend,
            "executor": run.executor,
            "operators": list(run.operators),
            "jobs": run.jobs,
            "counts": {s.value: run.counts[s.value] for s in Status if s.value in run.counts},
            "not_run": run.open_jobs,
        }
        for run in runs
    ]
    if output_format == "json":
        click.echo(json.dumps(rows, indent=2))
        return
    if not rows:
        terminal.talk().print(f"no runs in {runs_dir}", soft_wrap=True)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("run", "created", "backend", "executor", "operators", "jobs", "ended"):
        table.add_column(name, no_wrap=name != "ended")
    for row in rows:
        counts = row["counts"]
        assert isinstance(counts, dict)
        ended = ", ".join(f"{number} {status}" for status, number in counts.items())
        ended += f", {row['not_run']} not run" if row["not_run"] else ""
        operators = row["operators"]
        assert isinstance(operators, list)
        table.add_row(
            str(row["run"]),
            str(row["created_at"]),
            str(row["backend"]),
            str(row["executor"]),
            " ".join(operators),
            str(row["jobs"]),
            ended,
        )
    terminal.print_table(table)
