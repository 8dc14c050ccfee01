# SPDX-License-Identifier: Apache-2.0
"""Facts that only the source text has: bodies, decorators, shadowed definitions."""

from __future__ import annotations

import ast
import hashlib
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

Function = ast.FunctionDef | ast.AsyncFunctionDef


def plain(node: Any) -> Any:
    """A syntax tree as nested lists, without positions and without fields that are empty.

    ``ast.dump`` names fields that came and went between Python versions; empty ones are left out
    here, so that a body has one hash under each version that can parse it.
    """
    if isinstance(node, ast.AST):
        fields = [
            (name, plain(value))
            for name, value in ast.iter_fields(node)
            if name not in ("type_comment", "kind", "ctx") and value not in (None, [])
        ]
        return [type(node).__name__, fields]
    if isinstance(node, list):
        return [plain(item) for item in node]
    return f"{type(node).__name__}:{node!r}"


def digest(value: Any) -> str:
    return hashlib.sha256(repr(value).encode()).hexdigest()[:16]


def without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0] if body else None
    if (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    ):
        return body[1:]
    return body


class _Undocumented(ast.NodeTransformer):
    """Takes the docstrings of nested functions and classes out."""

    def _visit(self, node: Any) -> Any:
        self.generic_visit(node)
        node.body = without_docstring(node.body) or [ast.Pass()]
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = _visit


@dataclass
class FunctionFacts:
    line: int
    """Of the ``def``."""
    body: str
    decorators: tuple[str, ...]
    arguments: tuple[str, ...]


@dataclass
class ClassFacts:
    line: int
    defined: tuple[str, ...] = ()
    shadowed: tuple[str, ...] = ()


@dataclass
class FileFacts:
    functions: dict[tuple[int, str], FunctionFacts] = field(default_factory=dict)
    """By first line (that of the first decorator, as code objects count) and name."""
    classes: dict[str, ClassFacts] = field(default_factory=dict)
    """By qualified name."""


def function_facts(node: Function) -> FunctionFacts:
    arguments = tuple(
        argument.arg
        for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
    )
    decorators = tuple(ast.unparse(decorator) for decorator in node.decorator_list)
    line = node.lineno
    stripped = _Undocumented().visit(node)
    return FunctionFacts(
        line=line,
        body=digest([plain(stripped.args), plain(stripped.body)]),
        decorators=decorators,
        arguments=arguments,
    )


class _Collector(ast.NodeVisitor):
    def __init__(self) -> None:
        self.facts = FileFacts()
        self.scope: list[str] = []

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        name = ".".join([*self.scope, node.name])
        # Only the plain body: a method under `if` is one of several on purpose.
        tests = [
            item.name
            for item in node.body
            if isinstance(item, Function) and item.name.startswith("test")
        ]
        shadowed = sorted({test for test in tests if tests.count(test) > 1})
        self.facts.classes[name] = ClassFacts(node.lineno, tuple(tests), tuple(shadowed))
        self.scope.append(node.name)
        self.generic_visit(node)
        self.scope.pop()

    def _visit_function(self, node: Function) -> None:
        self.scope += [node.name, "<locals>"]
        for child in node.body:
            self.visit(child)
        del self.scope[-2:]
        first = min([node.lineno, *(item.lineno for item in node.decorator_list)])
        self.facts.functions[first, node.name] = function_facts(node)

    visit_FunctionDef = visit_AsyncFunctionDef = _visit_function


def file_facts(text: str) -> FileFacts:
    """Every function and class of a file.

    Raises:
        SyntaxError: ``text`` is no Python of the running version.
    """
    collector = _Collector()
    collector.visit(ast.parse(text))
    return collector.facts


def code_digest(code: CodeType) -> str:
    """Hash of a code object without addresses and lines, for functions whose source is not at hand.

    ``repr(co_consts)`` prints the addresses of nested code objects, so those are followed instead.
    """

    def parts(item: CodeType) -> list[Any]:
        return [
            item.co_code.hex(),
            [
                parts(const) if isinstance(const, CodeType) else stable(const)
                for const in item.co_consts
            ],
            item.co_names,
        ]

    return digest(parts(code))


def stable(const: Any) -> Any:
    # The order of a frozenset of strings changes with each process.
    return sorted(map(repr, const)) if isinstance(const, frozenset) else repr(const)
