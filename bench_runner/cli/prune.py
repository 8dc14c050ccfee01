# SPDX-License-Identifier: Apache-2.0
"""``bench-runner prune``: room in the store, without losing what it is kept for."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from pathlib import Path

import click
from rich.table import Table

from bench_runner.cli import terminal
from bench_runner.cli.options import FORMAT, RUNS_DIR
from bench_runner.errors import UsageFault
from bench_runner.plan import parse_size
from bench_runner.store.prune import Choice, Limits, choose, remove, sweep
from bench_runner.store.view import StoreView

UNITS = {"h": "hours", "d": "days", "w": "weeks"}


def _age(_: click.Context, __: click.Parameter, text: str | None) -> timedelta | None:
    if text is None:
        return None
    match = re.fullmatch(r"(\d{1,6})([hdw])", text.strip())
    if not match:
        raise click.BadParameter(f"{text!r} is no age; write for example 90d, 12h or 6w")
    return timedelta(**{UNITS[match[2]]: int(match[1])})


def _size(_: click.Context, __: click.Parameter, text: str | None) -> int | None:
    return None if text is None else parse_size(text)


@click.command()
@click.option("--older-than", "age", metavar="AGE", callback=_age, help="Runs older than 90d, 12h.")
@click.option(
    "--keep-size", metavar="SIZE", callback=_size, help="Oldest runs until SIZE is left, as in 50g."
)
@click.option(
    "--keep-runs",
    type=click.IntRange(min=0),
    metavar="N",
    help="Oldest runs until N are left.",
)
@click.option("--dry-run", is_flag=True, help="Say what would go, and delete nothing.")
@RUNS_DIR
@FORMAT
def prune(
    age: timedelta | None,
    keep_size: int | None,
    keep_runs: int | None,
    dry_run: bool,
    runs_dir: Path,
    output_format: str,
) -> None:
    """Delete runs beyond any of the limits, oldest first.

    Running and damaged runs stay, and of each operator and backend the newest run and those of the
    best candidate.
    """
    if age is None and keep_size is None and keep_runs is None:
        raise UsageFault("say what shall go: --older-than, --keep-size or --keep-runs")
    if not runs_dir.is_dir():
        raise UsageFault(f"{runs_dir} is not a folder; name the runs with --runs-dir")
    view = StoreView(runs_dir)
    view.refresh()
    view.measure()
    total = view.size() or 0
    choices = choose(view, Limits(age, keep_size, keep_runs))
    removed = [choice for choice in choices if not choice.stays]
    if not dry_run:
        sweep(view.store.root)
        removed = [choice for choice in removed if remove(view.store.root, choice.run)]
        view.refresh()
    freed = sum(choice.bytes for choice in removed)
    if output_format == "json":
        document = {
            "schema_version": "bench-runner.prune/v1",
            "dry_run": dry_run,
            "removed": [_row(choice) for choice in removed],
            "kept": [_row(choice) for choice in choices if choice.stays],
            "damaged": sorted(view.unreadable),
            "freed_bytes": freed,
            "left_bytes": total - freed,
        }
        click.echo(json.dumps(document, indent=2))
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("run", "", "MiB", "why"):
        table.add_column(name, no_wrap=name != "why", justify="right" if name == "MiB" else "left")
    for choice in choices:
        word = "stays" if choice.stays else "would go" if dry_run else "gone"
        if choice.stays or choice in removed:
            table.add_row(choice.run, word, f"{choice.bytes / (1 << 20):.1f}", choice.why)
    terminal.print_table(table)
    verb = "would go" if dry_run else "gone"
    terminal.talk().print(
        f"{len(removed)} runs {verb}, {freed / (1 << 20):.1f} MiB; "
        f"{(total - freed) / (1 << 20):.1f} MiB {'would be' if dry_run else 'are'} left"
    )


def _row(choice: Choice) -> dict[str, object]:
    return {
        "run": choice.run,
        "created_at": choice.created_at,
        "bytes": choice.bytes,
        "why": choice.why,
    }
