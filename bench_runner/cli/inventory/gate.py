# SPDX-License-Identifier: Apache-2.0
"""``bench-runner inventory gate``: pass only what was approved."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click
from rich.table import Table

from bench_runner.cli import terminal
from bench_runner.cli.inventory.diff import MANIFEST
from bench_runner.errors import UsageFault
from bench_runner.inventory.approvals import Approval, load_approvals, write_draft
from bench_runner.inventory.evidence import Evidence, read_evidence
from bench_runner.inventory.findings import Finding
from bench_runner.inventory.gate import GATES, Report, judge
from bench_runner.inventory.manifest import read_manifest


@click.command()
@click.argument("candidate", type=MANIFEST)
@click.option("--baseline", type=MANIFEST, required=True, help="Manifest of the suite before.")
@click.option(
    "--approved",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Reviewed YAML file of wanted changes; without it nothing may differ.",
)
@click.option(
    "--gate",
    "gates",
    multiple=True,
    type=click.Choice(list(GATES)),
    help="Run this gate alone; repeatable.",
)
@click.option("--stage", help="Last stage carried out; approvals of later ones do not count.")
@click.option(
    "--evidence",
    "evidence",
    multiple=True,
    metavar="TIER=JUNIT.xml",
    help="Report of a real run (tiers cpu, accelerator, consumers); repeatable.",
)
@click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The suite's root: refuse a candidate that was made of other files.",
)
@click.option(
    "--draft",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the unapproved findings as approvals that lack a reason.",
)
@click.option(
    "--annotations",
    type=click.Choice(["auto", "github", "none"]),
    default="auto",
    show_default=True,
    help="Lines for the CI's pages; auto looks at GITHUB_ACTIONS.",
)
@click.option("--format", "output_format", type=click.Choice(["table", "json"]), default="table")
def gate(
    candidate: Path,
    baseline: Path,
    approved: Path | None,
    gates: tuple[str, ...],
    stage: str | None,
    evidence: tuple[str, ...],
    root: Path | None,
    draft: Path | None,
    annotations: str,
    output_format: str,
) -> None:
    """Pass when CANDIDATE differs from the baseline exactly as approved.

    Exit code 0: every gate is closed; 1: one is open, and what keeps it open is named; 2: the two
    cannot be compared.
    """
    before, after = read_manifest(baseline), read_manifest(candidate)
    report = judge(
        before,
        after,
        load_approvals(approved),
        gates,
        stage,
        tuple(map(_evidence, evidence)),
        root.resolve() if root else None,
    )
    if output_format == "json":
        click.echo(report.model_dump_json(indent=2))
    else:
        _print(report)
    unapproved = [item for result in report.gates for item in result.unapproved]
    if draft is not None and unapproved:
        write_draft(draft, before.fingerprints.sources, unapproved)
        terminal.talk().print(f"wrote {draft}: give each change a reason", soft_wrap=True)
    if annotations == "github" or (annotations == "auto" and os.environ.get("GITHUB_ACTIONS")):
        _annotate(report)
    sys.exit(0 if report.passed else 1)


def _evidence(text: str) -> Evidence:
    tier, separator, path = text.partition("=")
    if not separator:
        raise UsageFault(f"--evidence wants TIER=JUNIT.xml, not {text}")
    return read_evidence(tier, Path(path))


def _lines(report: Report) -> list[tuple[str, str, str]]:
    """Gate, file and text of all that keeps a gate open."""
    lines = []
    for result in report.gates:
        lines += [(result.gate, item.file, _finding(item)) for item in result.unapproved]
        lines += [(result.gate, item.file, _approval(item)) for item in result.unhappened]
        lines += [(result.gate, "", text) for text in result.problems]
    return lines


def _finding(item: Finding) -> str:
    tests = f" ({len(item.tests)} tests, first {item.tests[0]})" if item.tests else ""
    detail = f": {item.detail}" if item.detail else ""
    return f"{item.kind} {item.subject}{detail}{tests}"


def _approval(item: Approval) -> str:
    return f"approved, but did not happen like that: {item.kind} {item.subject}"


def _print(report: Report) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("gate", "state", "approved", "open", "meaning"):
        table.add_column(name, no_wrap=name != "meaning")
    for result in report.gates:
        state = "closed" if result.closed else "OPEN"
        number = len(result.unapproved) + len(result.unhappened) + len(result.problems)
        table.add_row(result.gate, state, str(result.approved), str(number), GATES[result.gate][0])
    terminal.print_table(table)
    for name, file, text in _lines(report):
        where = f"{file}: " if file else ""
        terminal.data().print(f"{name}: {where}{text}", soft_wrap=True)


def _annotate(report: Report) -> None:
    for name, file, text in _lines(report):
        escaped = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
        place = f" file={file},title=inventory gate {name}" if file else f" title={name}"
        click.echo(f"::error{place}::{escaped}", err=True)
