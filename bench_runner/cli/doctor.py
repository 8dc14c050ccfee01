# SPDX-License-Identifier: Apache-2.0
"""``bench-runner doctor``: what this machine can run, what it cannot, and what to do about it."""

from __future__ import annotations

import json
import sys

import click
from rich.table import Table
from rich.text import Text

from bench_runner.cli import terminal
from bench_runner.cli.options import FORMAT
from bench_runner.contract.status import ExitCode
from bench_runner.diagnosis import diagnose


@click.command()
@FORMAT
def doctor(output_format: str) -> None:
    """Say what this machine can run and what is missing. Exit code 3 if it can run nothing."""
    findings = diagnose()
    if output_format == "json":
        click.echo(json.dumps([finding.__dict__ for finding in findings], indent=2))
    else:
        table = Table(box=None, pad_edge=False, header_style="bold")
        for name in ("", "what", "found", "to do"):
            table.add_column(name, overflow="fold")
        for finding in findings:
            mark = Text("ok", style="green") if finding.ok else Text("--", style="yellow")
            table.add_row(mark, finding.what, finding.found, finding.advice)
        terminal.print_table(table)
    executors = [finding.ok for finding in findings if finding.what.endswith("executor")]
    sys.exit(ExitCode.OK if any(executors) else ExitCode.INFRASTRUCTURE)
