# SPDX-License-Identifier: Apache-2.0
"""Turns a plan into an edited file and a diff, and proves the edit on a copy of the suite."""

from __future__ import annotations

import ast
import difflib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from bench_runner.errors import UsageFault
from bench_runner.inventory.approvals import SCHEMA, Approval, Approvals
from bench_runner.inventory.diff import diff
from bench_runner.inventory.discovery import Discovery
from bench_runner.inventory.findings import Finding
from bench_runner.inventory.gate import Report, judge
from bench_runner.inventory.manifest import make_manifest
from bench_runner.inventory.plan import safe
from bench_runner.inventory.plan_records import Plan
from bench_runner.inventory.records import Manifest

LABELS_MODULE = "torch.testing._internal.common_utils"
CLASS = "HardwareClassification"


class UnprovenPatchError(UsageFault):
    """The edited copy differs by more than the plan says; nothing is written."""


@dataclass(frozen=True)
class Proof:
    """What the gate said of the edited copy."""

    approvals: Approvals
    report: Report
    tests: int
    files: int


def has_labels(discovery: Discovery, module: str = LABELS_MODULE) -> bool:
    """Whether the suite's environment offers HardwareClassification."""
    done = subprocess.run(
        [discovery.python, "-c", f"from {module} import {CLASS}"],
        cwd=discovery.root,
        capture_output=True,
        check=False,
    )
    return done.returncode == 0


def edited(text: str, plan: Plan, module: str = LABELS_MODULE, guarded: bool = False) -> str:
    """The file with the plan's labels and device edits.

    Args:
        module: where HardwareClassification is imported from.
        guarded: this environment lacks it: the labels take effect where a release has it.
    """
    lines = text.splitlines(keepends=True)
    for edit in sorted(plan.edits, key=lambda item: (item.line, item.column), reverse=True):
        raw = lines[edit.line - 1].encode()
        rest = raw[edit.column :]
        spelt = next(item for item in _spellings(edit.old) if rest.startswith(item))
        raw = raw[: edit.column] + edit.new.encode() + raw[edit.column + len(spelt) :]
        lines[edit.line - 1] = raw.decode()
    tree = ast.parse(text)
    classes = {n.name: n for n in ast.walk(tree) if isinstance(n, ast.ClassDef)}
    insertions: list[tuple[int, str]] = []
    for item in safe(plan):
        body = classes[item.name].body
        first = body[0]
        documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
        at = (first.end_lineno or first.lineno) if documented else _start(first) - 1
        value = f"{CLASS}.{item.label}"
        value = f"{CLASS} and {value}" if guarded else value
        insertions.append((at, f"{' ' * first.col_offset}hw_classification = {value}\n"))
    if insertions and CLASS not in {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}:
        insertions.append((_after_imports(tree), _import(module, guarded)))
    for at, inserted in sorted(insertions, reverse=True):
        lines.insert(at, inserted)
    return "".join(lines)


def _spellings(literal: str) -> tuple[bytes, bytes]:
    inner = literal[1:-1]
    return f'"{inner}"'.encode(), f"'{inner}'".encode()


def _start(node: ast.stmt) -> int:
    decorators = getattr(node, "decorator_list", [])
    return min([node.lineno, *(item.lineno for item in decorators)])


def _after_imports(tree: ast.Module) -> int:
    imports = [n for n in tree.body if isinstance(n, (ast.Import, ast.ImportFrom))]
    return (imports[-1].end_lineno or 0) if imports else 0


def _import(module: str, guarded: bool) -> str:
    if not guarded:
        return f"from {module} import {CLASS}\n"
    return (
        f"try:\n    from {module} import {CLASS}\n"
        f"except ImportError:  # this release has no hardware classes\n    {CLASS} = None\n"
    )


def unified(plan: Plan, before: str, after: str) -> str:
    """A diff that ``patch -p1`` and ``git apply`` take in the suite's root."""
    return "".join(
        difflib.unified_diff(
            before.splitlines(keepends=True),
            after.splitlines(keepends=True),
            f"a/{plan.file}",
            f"b/{plan.file}",
        )
    )


def prove(plan: Plan, after: str, discovery: Discovery) -> Proof:
    """Applies the edit to a copy and runs all gates over the file and its consumers.

    Raises:
        UnprovenPatchError: a difference that the plan does not name, or one that it names and that
            did not happen.
    """
    paths = [plan.file, *plan.consumers]
    baseline = _manifest(paths, discovery)
    with _copy(discovery, plan.file, after) as copied:
        candidate = _manifest(paths, copied)
    approvals = _approvals(plan, diff(baseline, candidate).findings, baseline)
    report = judge(baseline, candidate, approvals)
    if not report.passed:
        problems = [
            f"{result.gate}: {text}"
            for result in report.gates
            for text in (
                *(f"{item.kind} {item.subject}" for item in result.unapproved),
                *(f"{item.kind} {item.subject} did not happen" for item in result.unhappened),
                *result.problems,
            )
        ]
        raise UnprovenPatchError(
            f"the edited copy of {plan.file} does not pass the gates: {problems[0]}"
            + (f" (and {len(problems) - 1} more)" if len(problems) > 1 else "")
        )
    return Proof(approvals, report, len(candidate.tests), len(candidate.files))


def _manifest(paths: list[str], discovery: Discovery) -> Manifest:
    made = make_manifest(paths, discovery, "unittest")
    return made.model_copy(update={"settings": {"consumers": True}})


@contextmanager
def _copy(discovery: Discovery, file: str, text: str) -> Iterator[Discovery]:
    """The suite with one file edited; its other files are links where the disk allows it."""
    with tempfile.TemporaryDirectory(prefix="inventory-copy-") as folder:
        root = Path(folder).resolve() / discovery.root.name
        shutil.copytree(discovery.root, root, copy_function=_link, symlinks=True)
        (root / file).unlink()
        (root / file).write_text(text, encoding="utf-8")
        yield replace(discovery, root=root)


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def _approvals(plan: Plan, findings: tuple[Finding, ...], baseline: Manifest) -> Approvals:
    """What the plan foresees, in the words of the gate; details and tests are those found."""
    methods = {item.method for item in plan.edits}
    labelled = {item.name for item in safe(plan)}
    changes = []
    for kind, subjects in (("class-changed", labelled), ("body-changed", methods)):
        for subject in sorted(subjects):
            found = next(
                (f for f in findings if (f.kind, f.file, f.subject) == (kind, plan.file, subject)),
                None,
            )
            detail = found.detail if found else None
            if kind == "class-changed" and not (
                detail and detail.startswith("hw_classification: absent -> ") and ";" not in detail
            ):
                detail = "hw_classification: absent -> a label"
            changes.append(
                Approval(
                    kind=kind,
                    file=plan.file,
                    subject=subject,
                    detail=detail,
                    tests=found.tests if found and found.tests else None,
                    reason="hardware label"
                    if kind == "class-changed"
                    else "the accelerator by the suite's own name for it",
                )
            )
    return Approvals(
        schema_version=SCHEMA, baseline=baseline.fingerprints.sources, changes=tuple(changes)
    )
