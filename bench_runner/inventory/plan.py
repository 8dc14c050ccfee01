# SPDX-License-Identifier: Apache-2.0
"""Finds what of a file can be decoupled from hardware with proof, and leaves the rest alone.

A class may be labelled when one label is right for all its tests, no copier fills it and no other
file relies on it: then neither a test ID nor anything that others import changes. Everything else
is an exception, and the plan says why.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable

from bench_runner.inventory.consumers import consumed, importers, parse
from bench_runner.inventory.discovery import Discovery
from bench_runner.inventory.labels.rules import ACCELERATOR, CUDA, REVIEW, RULES
from bench_runner.inventory.plan_records import ClassPlan, DeviceEdit, KeptDevice, Plan
from bench_runner.inventory.shadow import SourceFile
from bench_runner.inventory.shadow_records import MethodLabel, Shadow


def make_plan(shadow: Shadow, discovery: Discovery) -> Plan:
    """The plan for the file of ``shadow``, as it is today."""
    root, full = discovery.root, discovery.root / shadow.file
    files = importers([full], root)
    taken: dict[str, set[str]] = {}
    for path in files:
        for item in consumed(path, parse(path), root):
            if item.target == shadow.file:
                for name in item.names:
                    taken.setdefault(name, set()).add(str(path.relative_to(root)))
    source = SourceFile.read(root, shadow.file)
    edits, kept = _devices(shadow, source)
    edited = {item.method for item in edits}
    by_class: dict[str, list[MethodLabel]] = {}
    for label in shadow.labels:
        by_class.setdefault(label.target, []).append(label)
    plans = []
    for name, members in by_class.items():
        plans.append(_class(name, members, shadow, source, taken, edited))
    return Plan(
        file=shadow.file,
        platform=shadow.platform,
        classes=tuple(plans),
        edits=tuple(edits),
        kept=tuple(kept),
        consumers=tuple(str(path.relative_to(root)) for path in files),
    )


def _class(
    name: str,
    members: list[MethodLabel],
    shadow: Shadow,
    source: SourceFile,
    taken: dict[str, set[str]],
    edited: set[str],
) -> ClassPlan:
    labels: Counter[str] = Counter()
    needs: Counter[str] = Counter()
    for item in members:
        # What only a hard-coded device put into review is settled by the edit of that device.
        settled = item.label == REVIEW and item.method in edited
        labels[ACCELERATOR if settled else item.label] += len(item.tests)
        needs.update(dict.fromkeys(item.capabilities, len(item.tests)))
    total = sum(labels.values())
    written = source.classes.get(name)
    why = []
    closure = next((item for item in shadow.closures if item.target == name), None)
    if closure is not None:
        why.append(
            f"filled by the copier from {', '.join(closure.templates)} (line {closure.line})"
        )
    if written is None:
        why.append("not written in this file")
    users = taken.get(name, set()) | taken.get("*", set())
    if users:
        why.append(f"used by {len(users)} other files, first {min(users)}")
    if labels[REVIEW]:
        why.append(f"{labels[REVIEW]} of {total} tests are in review")
    if len(set(labels) - {REVIEW}) > 1:
        parts = ", ".join(f"{number} {label}" for label, number in sorted(labels.items()))
        why.append(f"no single label is right: {parts}")
    uneven = sorted(name for name, number in needs.items() if number != total)
    if uneven:
        parts = ", ".join(f"{needs[name]} of {total} need {name}" for name in uneven)
        why.append(f"mixes capabilities, which no label can hide: {parts}")
    return ClassPlan(
        name=name,
        line=written.node.lineno if written else 0,
        tests=total,
        labels=dict(labels),
        capabilities=dict(needs),
        label=None if why else next(iter(labels)),  # type: ignore[arg-type]
        why=tuple(why),
    )


def _devices(shadow: Shadow, source: SourceFile) -> tuple[list[DeviceEdit], list[KeptDevice]]:
    """Hard-coded accelerators in the file's tests: which may go, and why the others stay."""
    copied = {item.target for item in shadow.closures}
    names = sorted(source.accelerators)
    edits: dict[tuple[int, int], DeviceEdit] = {}
    kept: dict[tuple[str, int], KeptDevice] = {}
    for item in shadow.labels:
        if item.file != shadow.file:
            continue
        for found in item.evidence:
            if found.rule != "device.literal":
                continue
            why = _why_kept(item, found.via, copied, names)
            places = [] if why else _places(source, item.line, found.line)
            if not why and not places:
                why = "not where a device is passed"
            if why:
                kept[item.method, found.line] = KeptDevice(
                    method=item.method, line=found.line, text=found.text, why=why
                )
            for node in places:
                new = _name(node, names[0])
                # The literal's offset counts bytes.
                edits[node.lineno, node.col_offset] = DeviceEdit(
                    method=item.method,
                    line=node.lineno,
                    column=node.col_offset,
                    old=repr(node.value),
                    new=new,
                )
    return [edits[key] for key in sorted(edits)], list(kept.values())


def _why_kept(item: MethodLabel, via: str, copied: set[str], names: list[str]) -> str:
    if item.target in copied:
        return "part of the generation chain, which stays as it is"
    if via:
        return f"in {via}(), which others may call"
    if len(names) != 1:
        return "the file has no single name for its accelerator"
    base = next(one for one in item.evidence if one.rule.startswith("target."))
    if base.about != ACCELERATOR:
        return f"its class is not given an accelerator but {base.about or 'no known device'}"
    binding = [
        one
        for one in item.evidence
        if one.rule != "device.literal"
        and RULES[one.rule].effect in ("requires", "doubt")
        and one.about != ACCELERATOR
    ]
    if binding:
        return f"{RULES[binding[0].rule].text} (line {binding[0].line})"
    if any(one.about != CUDA for one in item.evidence if one.rule == "device.literal"):
        return "names several devices"
    return ""


def _places(source: SourceFile, function: int, line: int) -> list[ast.Constant]:
    """Literals of this line that are passed as a device."""
    found = []
    for node in ast.walk(source.functions[function]):
        if not isinstance(node, ast.Call):
            continue
        passed: list[ast.expr] = [kw.value for kw in node.keywords if kw.arg == "device"]
        called = ast.unparse(node.func)
        if called.endswith(".to") or called == "torch.device":
            passed += node.args[:1]
        found += [item for item in passed if _is_cuda(item) and item.lineno == line]
    return [item for item in found if isinstance(item, ast.Constant)]


def _is_cuda(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and node.value.partition(":")[0] == "cuda"
        and node.lineno == node.end_lineno
    )


def _name(node: ast.Constant, accelerator: str) -> str:
    _, colon, index = str(node.value).partition(":")
    return f'f"{{{accelerator}}}:{index}"' if colon else accelerator


def safe(plan: Plan) -> Iterable[ClassPlan]:
    """The classes that may be labelled."""
    return (item for item in plan.classes if item.label is not None)
