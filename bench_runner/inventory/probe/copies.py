# SPDX-License-Identifier: Apache-2.0
"""The calls by which a file copies its templates into test classes, found and evaluated."""

from __future__ import annotations

import ast
import types
from dataclasses import dataclass
from typing import Any

COPIER = "copy_tests"


@dataclass
class Copy:
    """One executed ``copy_tests(template, target, suffix, ...)`` of the file."""

    line: int
    copier: Any
    template: type
    target: type
    target_name: str
    suffix: str
    arguments: tuple[Any, ...]
    """What follows the suffix."""
    keywords: dict[str, Any]

    def into(self, names: list[str], shadow: type) -> None:
        """Copies these methods of the template into ``shadow`` by the suite's own function.

        The copier reads the template's ``__dict__``, so a plain class with the chosen ones stands
        in for it.
        """
        chosen = {name: vars(self.template)[name] for name in names}
        stand_in = type(self.template.__name__, (), chosen)
        self.copier(stand_in, shadow, self.suffix, *self.arguments, **self.keywords)


def executed(module: types.ModuleType, text: str) -> list[Copy]:
    """The calls at module level whose arguments exist and whose copies are in their target.

    A call in a branch that this platform did not take has no target, or left nothing in it.
    """
    found = []
    for node in _module_level_calls(ast.parse(text)):
        names = vars(module)
        try:
            copier = names[ast.unparse(node.func)]
            values = [_evaluate(item, names) for item in node.args]
            keywords = {item.arg: _evaluate(item.value, names) for item in node.keywords}
        except (NameError, KeyError, AttributeError):
            continue
        if len(values) < 3 or None in keywords:
            continue
        template, target, suffix, *rest = values
        copy = Copy(
            line=node.lineno,
            copier=copier,
            template=template,
            target=target,
            target_name=ast.unparse(node.args[1]),
            suffix=suffix,
            arguments=tuple(rest),
            keywords={str(key): value for key, value in keywords.items()},
        )
        if any(name in vars(target) for name in made(copy).values()):
            found.append(copy)
    return found


def made(copy: Copy) -> dict[str, str]:
    """For each method of the template the name under which the copier puts it."""
    names = {}
    for name in [item for item in vars(copy.template) if item.startswith("test")]:
        alone = type("Alone", (), {})
        copy.into([name], alone)
        copies = [item for item in vars(alone) if item.startswith("test")]
        if len(copies) == 1:
            names[name] = copies[0]
    return names


def _evaluate(node: ast.expr, names: dict[str, Any]) -> Any:
    return eval(compile(ast.Expression(node), "<copy>", "eval"), dict(names))


def _module_level_calls(tree: ast.Module) -> list[ast.Call]:
    found: list[ast.Call] = []

    def walk(statements: list[ast.stmt]) -> None:
        for statement in statements:
            for name in ("body", "orelse", "finalbody"):
                inner = getattr(statement, name, None)
                if inner and not isinstance(
                    statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
                ):
                    walk(inner)
            for handler in getattr(statement, "handlers", ()):
                walk(handler.body)
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
                called = ast.unparse(statement.value.func).rpartition(".")[2]
                if called == COPIER:
                    found.append(statement.value)

    walk(tree.body)
    return found
