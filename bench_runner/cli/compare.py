# SPDX-License-Identifier: Apache-2.0
"""``bench-runner compare``: two candidates or runs against each other."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click
from rich.table import Table

from bench_runner.cli import terminal
from bench_runner.cli.options import FORMAT, RUNS_DIR
from bench_runner.contract.status import ExitCode
from bench_runner.errors import UsageFault
from bench_runner.judge.comparison import Comparison, compare
from bench_runner.judge.rank_test import Estimate
from bench_runner.store.benchmarks import Side, find_side, pairs, verdicts_of
from bench_runner.store.view import JobRow, StoreView
from bench_runner.units import milliseconds, ratio


@click.command(name="compare")
@click.argument("a")
@click.argument("b")
@click.option("--op", "operator", default="", help="Only benchmarks of this operator.")
@click.option(
    "--across",
    is_flag=True,
    help="Compare although device, driver, image, suite or settings differ; says what does.",
)
@click.option(
    "--fail-if-slower", is_flag=True, help="Exit code 1 where B is surely slower in some case."
)
@RUNS_DIR
@FORMAT
def compare_two(
    a: str,
    b: str,
    operator: str,
    across: bool,
    fail_if_slower: bool,
    runs_dir: Path,
    output_format: str,
) -> None:
    """Compare A with B, case by case: medians, 95% intervals, p; `~` where it is undecided.

    A and B are candidates (FILE.py, FILE.py:FUNCTION, or the beginning of a hash), runs (an id, a
    beginning of one, or latest), or one benchmark as RUN/JOB. Exit code 2 where the two were not
    measured in the same place.
    """
    view = StoreView(runs_dir)
    view.refresh()
    sides = find_side(view, a, operator), find_side(view, b, operator)
    found = [(pair, _compare(view, sides, pair)) for pair in pairs(*sides)]
    for pair, comparison in found:
        if comparison.differences and not across:
            raise UsageFault(
                f"{pair[0].operator}: measured in two places, which --across ignores: "
                + "; ".join(comparison.differences)
            )
    if output_format == "json":
        click.echo(json.dumps(_document(a, b, found), indent=2))
    else:
        for pair, comparison in found:
            _print(pair, comparison)
    if fail_if_slower and any(comparison.wins("A") for _, comparison in found):
        sys.exit(ExitCode.CANDIDATE)


def _compare(view: StoreView, sides: tuple[Side, Side], pair: tuple[JobRow, JobRow]) -> Comparison:
    (one, more_a), (other, more_b) = (
        verdicts_of(view, side, row) for side, row in zip(sides, pair, strict=True)
    )
    return compare(one, other, more_a, more_b)


def _document(
    a: str, b: str, found: list[tuple[tuple[JobRow, JobRow], Comparison]]
) -> dict[str, object]:
    def side(row: JobRow) -> dict[str, str]:
        return {"run": row.run, "job": row.id, "candidate": row.candidate, "file": row.path}

    return {
        "schema_version": "bench-runner.comparison/v1",
        "a": a,
        "b": b,
        "comparisons": [
            {
                "operator": pair[0].operator,
                "a": side(pair[0]),
                "b": side(pair[1]),
                **comparison.document(),
            }
            for pair, comparison in found
        ],
    }


def _print(pair: tuple[JobRow, JobRow], found: Comparison) -> None:
    talk = terminal.talk()
    for name, row in zip("AB", pair, strict=True):
        talk.print(f"{name}: {row.label} {row.run}/{row.id}", soft_wrap=True)
    for text in found.differences:
        talk.print(f"not the same: {text}", soft_wrap=True)
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(pair[0].operator, overflow="fold")
    for name in ("A", "A 95%", "B", "B 95%", "A/B", "p", "n"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("faster")
    for case in found.cases:
        timing = case.timing
        name = f"{timing.shape} {timing.dtype.removeprefix('torch.')} {timing.params}".rstrip()
        p = "" if case.p is None else f"{case.p:.2g}"
        table.add_row(
            name, milliseconds(case.a.median), _interval(case.a), milliseconds(case.b.median),
            _interval(case.b), ratio(case.ratio), p, f"{case.a.n}+{case.b.n}", case.faster,
        )  # fmt: skip
    if found.ratio is not None:
        table.add_section()
        of = f"geometric mean, {len(found.cases)} of {found.total} cases"
        wins = f"{found.wins('A')} A, {found.wins('B')} B, {found.wins('~')} ~"
        table.add_row(of, *[""] * 4, ratio(found.ratio), "", "", wins)
    terminal.print_table(table)
    talk.print(f"n counts {found.unit}; ~ is undecided at 5%", soft_wrap=True)
    for name, missing in (("A", found.only_a), ("B", found.only_b)):
        if missing:
            cases = ", ".join(timing.case_id for timing in missing)
            talk.print(f"only in {name}: {cases}", soft_wrap=True)
    for warning in found.warnings:
        talk.print(f"note: {warning}", soft_wrap=True)


def _interval(side: Estimate) -> str:
    if side.low is None or side.high is None:
        return ""
    return f"[{milliseconds(side.low)}, {milliseconds(side.high)}]"
