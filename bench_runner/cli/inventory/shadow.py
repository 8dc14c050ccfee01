# SPDX-License-Identifier: Apache-2.0
"""``bench-runner inventory shadow``: label a file's tests by hardware, and prove none is lost."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from bench_runner.cli import terminal
from bench_runner.cli.inventory.manifest import default_cache
from bench_runner.contract.record import write_atomically
from bench_runner.errors import UsageFault
from bench_runner.inventory.decisions import Decisions, proposal, read_decisions
from bench_runner.inventory.discovery import Discovery
from bench_runner.inventory.manifest import within
from bench_runner.inventory.profile import builtin, load_profile
from bench_runner.inventory.shadow import make_shadow
from bench_runner.inventory.shadow_records import Shadow


def suite_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options of the verbs that look at one file."""
    options = [
        click.argument("file", type=click.Path(path_type=Path)),
        click.option("--platform", default="cpu", show_default=True, metavar="NAME|FILE.yaml",
                     help=f"Built-in profile ({', '.join(builtin())}) or your own."),
        click.option("--root", type=click.Path(exists=True, file_okay=False, path_type=Path),
                     default=Path("."), show_default=True, help="The suite's root."),
        click.option("--python", default=sys.executable, metavar="PYTHON",
                     help="Interpreter of the suite; needs nothing of this project."),
        click.option("--decisions", type=click.Path(exists=True, dir_okay=False, path_type=Path),
                     help="YAML file of labels that people decided."),
        click.option("--cache", type=click.Path(file_okay=False, path_type=Path),
                     help="Where answers are kept (default: the user's cache folder)."),
    ]  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


def look(
    file: Path,
    platform: str,
    root: Path,
    python: str,
    decisions: Path | None,
    cache: Path | None,
) -> tuple[Shadow, Discovery, Decisions | None]:
    """The shadow of one file, as the options of :func:`suite_options` ask for it."""
    full_root = root.resolve()
    full = within(file, full_root)
    if not full.is_file():
        raise UsageFault(f"{file} is a folder: name one test file")
    discovery = Discovery(
        root=full_root,
        python=python,
        profile=load_profile(platform),
        cache=(cache or default_cache()).absolute(),
    )
    decided = read_decisions(decisions) if decisions else None
    return make_shadow(str(full.relative_to(full_root)), discovery, decided), discovery, decided


def write(path: Path, text: str) -> None:
    try:
        write_atomically(path.absolute(), text)
    except OSError as error:
        raise UsageFault(f"cannot write {path}: {error.strerror}") from error


@click.command()
@suite_options
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path),
              help="Write everything as JSON: each label with its evidence.")  # fmt: skip
@click.option("--proposal", "propose", type=click.Path(dir_okay=False, path_type=Path),
              help="Write a file of decisions to fill in for what stays in review.")  # fmt: skip
@click.option("--show", metavar="METHOD", help="Print the labels and evidence of one method.")
def shadow(
    file: Path,
    platform: str,
    root: Path,
    python: str,
    decisions: Path | None,
    cache: Path | None,
    output: Path | None,
    propose: Path | None,
    show: str | None,
) -> None:
    """Label the tests of FILE and hold shadow classes of each label against the real ones.

    Exit code 1 where the shadow does not close or a decision is stale.
    """
    made, _, _ = look(file, platform, root, python, decisions, cache)
    if output:
        write(output, made.model_dump_json(exclude_defaults=True, indent=1) + "\n")
    if propose:
        write(propose, proposal(made.labels))
    if show:
        _print_method(made, show)
    else:
        _print_labels(made)
    _print_closure(made)
    sys.exit(0 if made.closes and not made.stale else 1)


def _print_method(made: Shadow, name: str) -> None:
    found = [item for item in made.labels if item.method.rpartition(".")[2] == name]
    if not found:
        raise UsageFault(f"{made.file} has no test method {name}")
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("target", "label", "capabilities", "rule", "line", "source", "via"):
        table.add_column(column, no_wrap=True)
    for item in found:
        for index, one in enumerate(item.evidence):
            head = (item.target, item.label, " ".join(item.capabilities))
            table.add_row(
                *(head if not index else ("", "", "")), one.rule, str(one.line), one.text, one.via
            )
        if item.why:
            table.add_row("", "", "", "", "", item.why, "")
    terminal.print_table(table)


def _print_labels(made: Shadow) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("target", "label", "tests", "methods", "by people", "capabilities"):
        right = column in ("tests", "methods", "by people")
        table.add_column(column, no_wrap=True, justify="right" if right else "left")
    groups = sorted({(item.target, item.label) for item in made.labels})
    for target, label in groups:
        members = [item for item in made.labels if (item.target, item.label) == (target, label)]
        tests = sum(len(item.tests) for item in members)
        people = sum(item.decided_by == "person" for item in members)
        counted: Counter[str] = Counter()
        for item in members:
            counted.update(dict.fromkeys(item.capabilities, len(item.tests)))
        needs = ", ".join(f"{name} {number}" for name, number in sorted(counted.items()))
        table.add_row(target, label, str(tests), str(len(members)), str(people or ""), needs)
    terminal.print_table(table)


def _print_closure(made: Shadow) -> None:
    talk = terminal.talk()
    for one in made.closures:
        state = "closes" if one.closes else "does NOT close"
        parts = " + ".join(f"{number} {label}" for label, number in sorted(one.labels.items()))
        talk.print(
            f"{one.target}: {state}: {parts} = {sum(one.labels.values())} of {one.tests} tests "
            f"from {one.source_methods} source methods",
            soft_wrap=True,
        )
        for name in ("lost", "invented", "doubled", "unlabelled", "unmapped", "unequal"):
            found = getattr(one, name)
            if found:
                talk.print(f"  {name}: {len(found)}, first {next(iter(found))}", soft_wrap=True)
        for name in one.shadowed:
            talk.print(f"  {name} is defined twice; the first definition never runs")
    loader = made.loader
    same = "identical" if loader.equal and loader.classes_equal else "NOT identical"
    talk.print(f"loader: {loader.before} tests before, {loader.after} after, {same}")
    for item in made.stale:
        talk.print(f"stale decision: {item.method} in {item.target}: {item.why}", soft_wrap=True)
