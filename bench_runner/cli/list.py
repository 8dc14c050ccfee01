# SPDX-License-Identifier: Apache-2.0
"""``bench-runner list``: the runs of a folder, newest first."""

from __future__ import annotations

import json
from pathlib import Path

import click
from rich.table import Table

from bench_runner.cli import terminal
from bench_runner.cli.options import FORMAT, RUNS_DIR
from bench_runner.contract.record import ContractError
from bench_runner.scheduler import summary
from bench_runner.store.runs import RunStore


@click.command(name="list")
@RUNS_DIR
@FORMAT
def list_runs(runs_dir: Path, output_format: str) -> None:
    """List the runs in a folder, newest first. A damaged run is named and left out."""
    rows = []
    store = RunStore(runs_dir)
    for run_id in store.ids():
        try:
            run = store.open(run_id)
            verdicts = [verdict for _, verdict in run.verdicts()]
        except ContractError as error:
            terminal.talk().print(f"left out: {error}", soft_wrap=True)
            continue
        jobs = run.record.jobs
        rows.append(
            {
                "run": run_id,
                "created_at": run.record.created_at,
                "backend": jobs[0].environment.backend,
                "executor": jobs[0].environment.executor,
                "operators": sorted({job.op for job in jobs}),
                "jobs": len(jobs),
                "counts": {s.value: n for s, n in summary(verdicts).items()},
                "not_run": verdicts.count(None),
            }
        )
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
