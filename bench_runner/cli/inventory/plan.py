# SPDX-License-Identifier: Apache-2.0
"""``bench-runner inventory plan``: what of a file may be decoupled from hardware, and what not."""

from __future__ import annotations

from pathlib import Path

import click
import yaml
from rich.table import Table

from bench_runner.cli import terminal
from bench_runner.cli.inventory.shadow import look, suite_options, write
from bench_runner.errors import UsageFault
from bench_runner.inventory.adapter import write_adapter
from bench_runner.inventory.patch import LABELS_MODULE, edited, has_labels, prove, unified
from bench_runner.inventory.plan import make_plan, safe
from bench_runner.inventory.plan_records import Plan


@click.command()
@suite_options
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path),
              help="Write the plan as JSON.")  # fmt: skip
@click.option("--patch", type=click.Path(dir_okay=False, path_type=Path),
              help="Write the safe edits as a diff, proven on a copy by the gates.")  # fmt: skip
@click.option("--approved", type=click.Path(dir_okay=False, path_type=Path),
              help="With --patch: write what `gate` must approve for it.")  # fmt: skip
@click.option("--labels-from", default=LABELS_MODULE, show_default=True, metavar="MODULE",
              help="Where the suite imports HardwareClassification from.")  # fmt: skip
@click.option("--adapter", type=click.Path(dir_okay=False, path_type=Path),
              help="Write the module with which a PrivateUse1 back end runs the file.")  # fmt: skip
def plan(
    file: Path,
    platform: str,
    root: Path,
    python: str,
    decisions: Path | None,
    cache: Path | None,
    output: Path | None,
    patch: Path | None,
    approved: Path | None,
    labels_from: str,
    adapter: Path | None,
) -> None:
    """Say which classes and devices of FILE can be decoupled with proof, and why others stay."""
    if approved and not patch:
        raise UsageFault("--approved says what a patch changes: give --patch as well")
    shadow, discovery, _ = look(file, platform, root, python, decisions, cache)
    if not shadow.closes:
        raise UsageFault(
            f"the shadow of {shadow.file} does not close, so nothing of it is proven: see "
            "`inventory shadow`"
        )
    made = make_plan(shadow, discovery)
    if output:
        write(output, made.model_dump_json(indent=1) + "\n")
    _print(made)
    talk = terminal.talk()
    if patch:
        text = (discovery.root / made.file).read_text(encoding="utf-8")
        labelled = bool(list(safe(made)))
        guarded = labelled and not has_labels(discovery, labels_from)
        after = edited(text, made, labels_from, guarded)
        if after == text:
            raise UsageFault(f"{made.file} has nothing that is provably safe to edit")
        if guarded:
            talk.print(f"{labels_from} has no hardware classes here: labels are guarded")
        proof = prove(made, after, discovery)
        write(patch, unified(made, text, after))
        talk.print(
            f"wrote {patch}: {sum(1 for _ in safe(made))} labels, {len(made.edits)} devices; a "
            f"copy with it passes {len(proof.report.gates)} gates over {proof.files} files and "
            f"{proof.tests} tests",
            soft_wrap=True,
        )
        if approved:
            document = proof.approvals.model_dump(mode="json", exclude_defaults=True)
            document = {"schema_version": proof.approvals.schema_version, **document}
            write(approved, yaml.safe_dump(document, sort_keys=False, width=100))
    if adapter:
        write(adapter, write_adapter(made.file, discovery))
        talk.print(f"wrote {adapter}")


def _print(made: Plan) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("class", "line", "tests", "verdict", "why"):
        right = column in ("line", "tests")
        table.add_column(column, no_wrap=True, justify="right" if right else "left")
    for item in made.classes:
        verdict = f"label {item.label}" if item.label else "exception"
        table.add_row(item.name, str(item.line), str(item.tests), verdict, "; ".join(item.why))
    terminal.print_table(table)
    for edit in made.edits:
        terminal.data().print(
            f"{made.file}:{edit.line}: {edit.method}: {edit.old} -> {edit.new}", soft_wrap=True
        )
    for kept in made.kept:
        terminal.data().print(
            f"{made.file}:{kept.line}: {kept.method}: {kept.text} stays: {kept.why}", soft_wrap=True
        )
