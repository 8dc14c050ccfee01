# SPDX-License-Identifier: Apache-2.0
"""``bench-runner inventory diff``: what differs between two manifests."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from rich.table import Table

from bench_runner.cli import terminal
from bench_runner.contract.record import write_atomically
from bench_runner.errors import UsageFault
from bench_runner.inventory.diff import diff as compare
from bench_runner.inventory.findings import Difference, Finding
from bench_runner.inventory.manifest import read_manifest
from bench_runner.inventory.render import html, markdown

MANIFEST = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.argument("before", type=MANIFEST)
@click.argument("after", type=MANIFEST)
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["table", "json", "markdown", "html"]),
    default="table",
    show_default=True,
    help="What is written.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File to write instead of stdout.",
)
@click.option("--standing", is_flag=True, help="Add what was wrong before and still is.")
def diff(
    before: Path, after: Path, output_format: str, output: Path | None, standing: bool
) -> None:
    """Name everything that differs from BEFORE to AFTER. Exit code 1 where anything does."""
    difference = compare(read_manifest(before), read_manifest(after))
    if not standing:
        difference = difference.model_copy(update={"standing": ()})
    if output_format == "table" and output is None:
        print_findings([*difference.findings, *difference.standing])
    else:
        text = rendered(difference, output_format)
        if output is None:
            click.echo(text, nl=False)
        else:
            try:
                write_atomically(output.absolute(), text)
            except OSError as error:
                raise UsageFault(f"cannot write {output}: {error.strerror}") from error
    terminal.talk().print(
        f"{difference.tests_before} tests before, {difference.tests_after} after, "
        f"{len(difference.findings)} findings",
        soft_wrap=True,
    )
    sys.exit(1 if difference.findings else 0)


def rendered(difference: Difference, output_format: str) -> str:
    if output_format == "json":
        return difference.model_dump_json(indent=2) + "\n"
    if output_format == "html":
        return html(difference)
    return markdown(difference)


def print_findings(findings: list[Finding]) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("kind", "file", "subject", "tests", "detail"):
        table.add_column(
            name,
            no_wrap=name in ("kind", "tests"),
            overflow="fold",
            justify="right" if name == "tests" else "left",
        )
    for item in findings:
        number = str(len(item.tests)) if item.tests else ""
        table.add_row(item.kind, item.file, item.subject, number, item.detail)
    terminal.print_table(table)
