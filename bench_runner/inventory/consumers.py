# SPDX-License-Identifier: Apache-2.0
"""Who imports whom, read from syntax trees: a comment that names a module is no import."""

from __future__ import annotations

import ast
import os
import warnings
from collections.abc import Iterator
from pathlib import Path

from bench_runner.errors import UsageFault
from bench_runner.inventory.records import ConsumedName


def parse(path: Path) -> ast.Module:
    """Raises UsageFault where the file is no Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            return ast.parse(path.read_bytes())
    except (SyntaxError, ValueError) as error:
        raise UsageFault(f"{path} cannot be parsed: {error}") from error


class _Imports(ast.NodeVisitor):
    """Modules with the names taken from them; aliases are followed to attribute reads."""

    def __init__(self) -> None:
        self.modules: dict[str, set[str]] = {}
        self.aliases: dict[str, str] = {}

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self.modules.setdefault(alias.name, set())
            self.aliases[alias.asname or alias.name] = alias.name

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = "." * node.level + (node.module or "")
        for alias in node.names:
            # `from package import module` and `from module import name` look alike.
            self.modules.setdefault(module, set()).add(alias.name)
            nested = f"{module}{alias.name}" if module.endswith(".") else f"{module}.{alias.name}"
            self.modules.setdefault(nested, set())
            self.aliases[alias.asname or alias.name] = nested

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self.generic_visit(node)
        module = self.aliases.get(ast.unparse(node.value))
        if module is not None:
            self.modules[module].add(node.attr)


def consumed(path: Path, tree: ast.Module, root: Path) -> tuple[ConsumedName, ...]:
    """What a file takes from other files of the suite."""
    visitor = _Imports()
    # Imports first: a function above may use a module that is imported below it.
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            visitor.visit(node)
    visitor.visit(tree)
    found = []
    for module, names in sorted(visitor.modules.items()):
        target = _resolve(module, path, root)
        if target is not None and target != path:
            found.append(
                ConsumedName(
                    module=module,
                    target=str(target.relative_to(root)),
                    names=tuple(sorted(names)),
                )
            )
    return tuple(found)


def _resolve(module: str, path: Path, root: Path) -> Path | None:
    dots = len(module) - len(module.lstrip("."))
    parts = [part for part in module[dots:].split(".") if part]
    if not parts:
        return None
    if dots:
        folders = [path.parents[dots - 1]] if dots <= len(path.parents) else []
    else:
        folders = [path.parent, root]
    for folder in folders:
        candidate = folder.joinpath(*parts).with_suffix(".py")
        if candidate.is_file() and candidate.resolve().is_relative_to(root):
            return candidate.resolve()
    return None


def _sources(root: Path) -> Iterator[Path]:
    """The suite's files: hidden folders and Python environments in it are none of it."""
    for folder, folders, files in os.walk(root):
        folders[:] = [
            name
            for name in folders
            if not name.startswith(".") and not Path(folder, name, "pyvenv.cfg").exists()
        ]
        yield from (Path(folder, name) for name in files if name.endswith(".py"))


def importers(targets: list[Path], root: Path) -> list[Path]:
    """Files under ``root`` that import one of ``targets`` directly."""
    stems = {target.stem for target in targets}
    found = []
    for path in sorted(_sources(root)):
        # A file that never names a target cannot import it; parsing all others would take minutes.
        text = path.read_bytes()
        if not any(stem.encode() in text for stem in stems):
            continue
        path = path.resolve()
        if path in targets:
            continue
        takes = {root / item.target for item in consumed(path, parse(path), root)}
        if takes & set(targets):
            found.append(path)
    return found
