# SPDX-License-Identifier: Apache-2.0
"""Which device a test class is given, told from the class's own source and the branch it is in."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from bench_runner.inventory.labels.conditions import PRESENT
from bench_runner.inventory.labels.evidence import Evidence
from bench_runner.inventory.labels.rules import ACCELERATOR, CPU, DEVICES, GENERIC

ATTRIBUTES = ("device", "device_type")
USUAL_GLOBALS = re.compile(r"^(GPU|DEVICE)_TYPE$")


@dataclass
class ClassSource:
    node: ast.ClassDef
    gates: tuple[ast.expr, ...]
    """Conditions of the branches around it, outermost first."""


def classes(tree: ast.Module) -> dict[str, ClassSource]:
    """Classes at module level, also in branches, by name; the last definition counts."""
    found: dict[str, ClassSource] = {}

    def walk(statements: list[ast.stmt], gates: tuple[ast.expr, ...]) -> None:
        for item in statements:
            if isinstance(item, ast.ClassDef):
                found[item.name] = ClassSource(item, gates)
            elif isinstance(item, ast.If):
                walk(item.body, (*gates, item.test))
                walk(item.orelse, gates)
            elif isinstance(item, (ast.Try, ast.With)):
                walk(item.body, gates)

    walk(tree.body, ())
    return found


def device_globals(tree: ast.Module) -> frozenset[str]:
    """Names under which the file knows its accelerator: what classes take as their device."""
    found = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and USUAL_GLOBALS.match(n.id)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            for name, value in assignments(node):
                if name in ATTRIBUTES and isinstance(value, ast.Name):
                    found.add(value.id)
    return frozenset(found)


def assignments(node: ast.ClassDef) -> list[tuple[str, ast.expr]]:
    found = []
    for item in node.body:
        if isinstance(item, ast.Assign):
            found += [(t.id, item.value) for t in item.targets if isinstance(t, ast.Name)]
        elif isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name) and item.value:
            found.append((item.target.id, item.value))
    return found


def own_device(source: ClassSource, accelerators: frozenset[str]) -> tuple[str, Evidence] | None:
    """The label of the device that the class names itself, or that of the branch it is in."""
    for name, value in assignments(source.node):
        if name in ATTRIBUTES:
            found = _label(value, accelerators)
            return found, Evidence(
                value.lineno, "target.device", found, f"{name} = {ast.unparse(value)}"
            )
    for gate in reversed(source.gates):
        present = [
            PRESENT[n.id] for n in ast.walk(gate) if isinstance(n, ast.Name) and n.id in PRESENT
        ]
        if len(present) == 1:
            text = f"if {ast.unparse(gate)}"
            return present[0], Evidence(gate.lineno, "target.gate", present[0], text)
    return None


def _label(value: ast.expr, accelerators: frozenset[str]) -> str:
    """Empty for an expression that cannot be read."""
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        return DEVICES.get(value.value.partition(":")[0], ACCELERATOR)
    if isinstance(value, ast.Name) and value.id in accelerators:
        return ACCELERATOR
    return ""


def injected(device: str, line: int) -> tuple[str, Evidence]:
    """For a class made at run time, whose device only its attribute tells."""
    label = CPU if device.partition(":")[0] == "cpu" else ACCELERATOR
    return label, Evidence(line, "target.device", label, f"device_type {device!r}, set at run time")


def without(line: int) -> tuple[str, Evidence]:
    return GENERIC, Evidence(line, "target.none", GENERIC)
