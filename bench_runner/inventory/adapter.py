# SPDX-License-Identifier: Apache-2.0
"""Writes the test module with which a back end from elsewhere runs a file's template meanwhile."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from bench_runner.errors import UsageFault
from bench_runner.inventory.discovery import PACKAGE_ROOT, Discovery
from bench_runner.inventory.labels.conditions import PRESENT
from bench_runner.inventory.labels.rules import ACCELERATOR
from bench_runner.inventory.shadow import SourceFile

MODULE = '''\
# Written by `bench-runner inventory plan {file} --adapter`. It names no test: which methods of
# {template} run here is judged by rules each time, and what they need is asked of the back end.
"""{template} of {file} on the PrivateUse1 back end that has registered."""

import os
import sys

sys.path.insert(0, os.environ.get("SUITE_FOLDER", {folder!r}))
sys.path.append(os.environ.get("BENCH_RUNNER", {package!r}))

from bench_runner.inventory.labels import adapter

DEVICE = adapter.registered_device()
adapter.announce({hardware!r}, {{{announced}}})

import {module} as suite


def supports(capability):
    return adapter.declared(DEVICE, capability)


class PrivateUse1{target}({bases}):
{attributes}


suite.{copier}(adapter.select(suite.{template}, suite, supports), PrivateUse1{target}, DEVICE)
'''


@dataclass(frozen=True)
class _Target:
    name: str
    template: str
    bases: tuple[str, ...]
    attributes: tuple[tuple[str, str], ...]
    gate: tuple[str, ...]
    """Names that say whether there is an accelerator."""


def write_adapter(file: str, discovery: Discovery) -> str:
    """The adapter's source.

    Raises:
        UsageFault: the file copies no template into a class that is given its accelerator, or does
            not import the accelerator's name from anywhere.
    """
    source = SourceFile.read(discovery.root, file)
    target, device = _target(source)
    hardware = _imported_from(source.tree, device)
    if hardware is None:
        raise UsageFault(f"{file} does not import {device}: there is no module to tell the device")
    announced = {device: "DEVICE"}
    for name in target.gate:
        if _imported_from(source.tree, name) == hardware:
            announced[name] = "True"
    attributes = "\n".join(f"    {name} = {value}" for name, value in target.attributes)
    path = discovery.root / file
    return MODULE.format(
        file=file,
        folder=str(path.parent),
        package=str(PACKAGE_ROOT),
        module=path.stem,
        hardware=hardware,
        announced=", ".join(f"{name!r}: {value}" for name, value in announced.items()),
        template=target.template,
        target=target.name,
        bases=", ".join(target.bases),
        attributes=attributes,
        copier="copy_tests",
    )


def _target(source: SourceFile) -> tuple[_Target, str]:
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.Call) or ast.unparse(node.func) != "copy_tests":
            continue
        if len(node.args) < 3 or not all(isinstance(item, ast.Name) for item in node.args[:2]):
            continue
        template, name = ast.unparse(node.args[0]), ast.unparse(node.args[1])
        written = source.classes.get(name)
        if written is None:
            continue
        found = _described(source, written.node, written.gates, name, template)
        if found is not None:
            return found
    raise UsageFault(
        f"{source.path} copies no template into a class that is given its accelerator: there is "
        "nothing for an adapter to reuse"
    )


def _described(
    source: SourceFile,
    node: ast.ClassDef,
    gates: tuple[ast.expr, ...],
    name: str,
    template: str,
) -> tuple[_Target, str] | None:
    device = None
    attributes = []
    for item in node.body:
        if not isinstance(item, ast.Assign) or not isinstance(item.targets[0], ast.Name):
            continue
        value = item.value
        if isinstance(value, ast.Name) and value.id in source.accelerators:
            device = value.id
            attributes.append((item.targets[0].id, "DEVICE"))
        else:
            attributes.append((item.targets[0].id, _qualified(value, source)))
    if device is None:
        return None
    bases = tuple(_qualified(item, source) for item in node.bases)
    gate = tuple(
        item.id
        for condition in gates
        for item in ast.walk(condition)
        if isinstance(item, ast.Name) and PRESENT.get(item.id) == ACCELERATOR
    )
    return _Target(name, template, bases, tuple(attributes), gate), device


def _qualified(node: ast.expr, source: SourceFile) -> str:
    """An expression of the suite's file as seen from another module."""
    first = node
    while isinstance(first, ast.Attribute):
        first = first.value
    if isinstance(first, ast.Name):
        return f"suite.{ast.unparse(node)}"
    if isinstance(node, ast.Constant):
        return ast.unparse(node)
    raise UsageFault(
        f"{source.path}:{node.lineno}: an adapter cannot repeat {ast.unparse(node)}; write it by "
        "hand"
    )


def _imported_from(tree: ast.Module, name: str) -> str | None:
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or not node.module or node.level:
            continue
        if any((alias.asname or alias.name) == name for alias in node.names):
            return node.module
    return None
