# SPDX-License-Identifier: Apache-2.0
"""``bench-runner report``: one run as one HTML file."""

from __future__ import annotations

from pathlib import Path

import click

from bench_runner.cli import terminal, values
from bench_runner.cli.options import RUNS_DIR
from bench_runner.contract.record import write_atomically
from bench_runner.errors import UsageFault
from bench_runner.report.html import render
from bench_runner.store.runs import RunStore


@click.command()
@click.argument("run_name", metavar="RUN", shell_complete=values.runs)
@click.option(
    "--html",
    type=click.Path(dir_okay=False, path_type=Path),
    required=True,
    help="File to write; it needs nothing beside it.",
)
@RUNS_DIR
def report(run_name: str, html: Path, runs_dir: Path) -> None:
    """Write RUN (an id, a beginning of one, a folder, or latest) as one HTML file."""
    run = RunStore(runs_dir).open(run_name)
    try:
        write_atomically(html.absolute(), render(run))
    except OSError as error:
        raise UsageFault(f"cannot write {html}: {error.strerror}") from error
    terminal.talk().print(f"wrote {html}", soft_wrap=True)
