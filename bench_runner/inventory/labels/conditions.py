# SPDX-License-Identifier: Apache-2.0
"""Reads conditions on devices, as ``if self.device != "cuda": raise SkipTest`` has one."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass

from bench_runner.inventory.labels.rules import ACCELERATOR, CPU, CUDA, DEVICES

PRESENT = {
    "HAS_GPU": ACCELERATOR,
    "RUN_GPU": ACCELERATOR,
    "HAS_GPU_AND_TRITON": ACCELERATOR,
    "HAS_CUDA": CUDA,
    "HAS_CUDA_AND_TRITON": CUDA,
    "RUN_CUDA": CUDA,
    "TEST_CUDA": CUDA,
    "TEST_CUDNN": CUDA,
    "HAS_XPU": "XPU",
    "HAS_MPS": "MPS",
    "HAS_CPU": CPU,
    "RUN_CPU": CPU,
}
GENERATION = re.compile(r"^SM\d+(OrLater)?$|^TEST_CUDNN_VERSION$")


@dataclass(frozen=True)
class Place:
    """What one part of a condition says about where the test is skipped."""

    rule: str
    about: str


def is_skip(body: Sequence[ast.stmt]) -> bool:
    """Whether the statements end the test as skipped, or without having tested anything."""
    if len(body) != 1:
        return False
    first = body[0]
    if isinstance(first, ast.Return):
        return first.value is None
    if isinstance(first, ast.Raise):
        return first.exc is not None and "SkipTest" in ast.unparse(first.exc)
    return (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Call)
        and ast.unparse(first.value.func).endswith("skipTest")
    )


def conditions(
    test: ast.expr, skips_when: bool, device_globals: frozenset[str]
) -> tuple[Place, ...]:
    """What a condition says of devices when the test is skipped where it is ``skips_when``.

    ``a and b`` skips only where both hold, so that neither alone restricts the test: what it names
    is exempted. Parts that speak of no device are left out.
    """
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return conditions(test.operand, not skips_when, device_globals)
    if isinstance(test, ast.BoolOp):
        weakens = isinstance(test.op, ast.And) == skips_when
        found: list[Place] = []
        for value in test.values:
            found += conditions(value, skips_when, device_globals)
        if weakens and len(test.values) > 1:
            found = [Place("gate.exempts", place.about) for place in found]
        return tuple(found)
    return _atom(test, skips_when, device_globals)


def _atom(test: ast.expr, skips_when: bool, device_globals: frozenset[str]) -> tuple[Place, ...]:
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return _comparison(test, skips_when, device_globals)
    name = test.attr if isinstance(test, ast.Attribute) else getattr(test, "id", "")
    text = ast.unparse(test)
    for device in ("cuda", "xpu", "mps"):
        if f"torch.{device}.is_available()" in text:
            return (_presence(DEVICES[device], skips_when),)
    if name in PRESENT:
        return (_presence(PRESENT[name], skips_when),)
    if GENERATION.match(name):
        return (Place("gate.exempts" if skips_when else "gate.generation", CUDA),)
    return ()


def _presence(label: str, skips_when: bool) -> Place:
    # Skipped where the device is present: nothing is asked of the device that the test gets.
    return Place("gate.exempts" if skips_when else "gate.presence", label)


def _comparison(
    test: ast.Compare, skips_when: bool, device_globals: frozenset[str]
) -> tuple[Place, ...]:
    left, right = test.left, test.comparators[0]
    if not _speaks_of_device(left):
        left, right = right, left
    labels = _labels(right, device_globals)
    if not _speaks_of_device(left) or not labels:
        return ()
    operator = test.ops[0]
    if not isinstance(operator, (ast.Eq, ast.NotEq, ast.In, ast.NotIn, ast.Is, ast.IsNot)):
        return ()
    same = isinstance(operator, (ast.Eq, ast.In, ast.Is))
    if same != skips_when:
        # Skipped unless the device is one of these.
        about = labels[0] if len(labels) == 1 else _union(labels)
        return (Place("gate.only", about),)
    if labels == (CPU,):
        return (Place("gate.only", ACCELERATOR),)
    if labels == (ACCELERATOR,):
        return (Place("gate.only", CPU),)
    return tuple(Place("gate.exempts", label) for label in labels)


def _union(labels: tuple[str, ...]) -> str:
    return ACCELERATOR if CPU not in labels else ""


def _speaks_of_device(node: ast.AST) -> bool:
    """``self.device``, also ``self.device.type``, ``.lower()``, ``torch.device(self.device)``."""
    return any(
        isinstance(item, ast.Attribute)
        and isinstance(item.value, ast.Name)
        and item.value.id == "self"
        and item.attr in ("device", "device_type")
        for item in ast.walk(node)
    )


def _labels(node: ast.AST, device_globals: frozenset[str]) -> tuple[str, ...]:
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        found = [label for item in node.elts for label in _labels(item, device_globals)]
        return tuple(found) if len(found) == len(node.elts) else ()
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        label = DEVICES.get(node.value.partition(":")[0])
        return (label,) if label else ()
    if isinstance(node, ast.Name) and node.id in device_globals:
        return (ACCELERATOR,)
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "torch.device" and node.args:
        return _labels(node.args[0], device_globals)
    return ()
