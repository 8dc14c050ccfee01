# SPDX-License-Identifier: Apache-2.0
"""Class objects by identity: a name is not enough where one file is loaded under two modules."""

from __future__ import annotations

import inspect
import sys
import types
from typing import Any

from bench_runner.inventory.probe import canonical
from bench_runner.inventory.probe.layers import plain_function
from bench_runner.inventory.probe.sources import Sources

UNTOLD = {
    "__module__", "__qualname__", "__doc__", "__dict__", "__weakref__", "__firstlineno__",
    "__static_attributes__", "__annotations__", "__parameters__", "__orig_bases__",
    "__abstractmethods__", "__unittest_skip__", "__unittest_skip_why__", "_abc_impl", "pytestmark",
}  # fmt: skip
"""Attributes of a class that are told elsewhere, or that Python keeps for itself."""


def is_test_name(name: str) -> bool:
    return name.startswith("test")


class Classes:
    """Every class that the suite's modules hold, and which of them each function belongs to."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self._keys: dict[int, str] = {}
        self._counts: dict[str, int] = {}
        self._held: list[Any] = []
        """Keeps every numbered object alive: a freed one could lend its id to another."""
        self.owners: dict[int, tuple[type, str]] = {}
        """Function object to class and attribute."""

    def read_modules(self) -> dict[str, list[str]]:
        """Numbers the classes of all loaded modules of the suite; returns modules by file."""
        by_file: dict[str, list[str]] = {}
        for name in sorted(sys.modules):
            module = sys.modules[name]
            path = getattr(module, "__file__", None)
            if not isinstance(module, types.ModuleType) or not isinstance(path, str):
                continue
            relative = self.sources.inside(path)
            if relative is None:
                continue
            by_file.setdefault(relative, []).append(name)
            for item in list(vars(module).values()):
                if isinstance(item, type):
                    self.key(item)
        return by_file

    def is_suite(self, cls: type) -> bool:
        module = sys.modules.get(cls.__module__)
        path = getattr(module, "__file__", None)
        return isinstance(path, str) and self.sources.inside(path) is not None

    def key(self, cls: type) -> str:
        """``module:qualname``, numbered from the second object of that name on."""
        if id(cls) not in self._keys:
            name = f"{cls.__module__}:{cls.__qualname__}"
            count = self._counts[name] = self._counts.get(name, 0) + 1
            self._keys[id(cls)] = name if count == 1 else f"{name}#{count}"
            self._held.append(cls)
            # make_test_cls_with_patches leaves the module of the helper that made the class.
            for attribute, value in list(vars(cls).items()):
                if is_test_name(attribute):
                    function = plain_function(value)
                    if function is not None:
                        self.owners.setdefault(id(function), (cls, attribute))
        return self._keys[id(cls)]

    def describe(self, cls: type, found_as: list[str], runnable: bool) -> dict[str, Any]:
        """The record of a class."""
        attributes, members = {}, {}
        own_tests = []
        for name, value in vars(cls).items():
            function = plain_function(value)
            if is_test_name(name) and callable(value):
                own_tests.append(name)
            elif function is not None:
                # `common = check_model` borrows a function; its body is the module's affair.
                own = function.__code__.co_qualname.startswith(f"{cls.__qualname__}.")
                if own:
                    members[name] = self.sources.body(function.__code__)
                else:
                    attributes[name] = canonical.text(function)
            elif name not in UNTOLD and not isinstance(value, type):
                attributes[name] = canonical.text(value)
        file, facts = self._written(cls)
        return {
            "key": self.key(cls),
            "module": cls.__module__,
            "qualname": cls.__qualname__,
            "file": file,
            "line": facts.line if facts else 0,
            "bases": [
                self.key(base) if self.is_suite(base) else f"{base.__module__}:{base.__qualname__}"
                for base in cls.__bases__
                if base is not object
            ],
            "found_as": found_as,
            "runnable": runnable,
            "attributes": attributes,
            "members": members,
            "own_tests": own_tests,
            "defined": list(facts.defined) if facts else [],
            "shadowed": list(facts.shadowed) if facts else [],
        }

    def _written(self, cls: type) -> tuple[str, Any]:
        path = getattr(sys.modules.get(cls.__module__), "__file__", None)
        if not isinstance(path, str):
            return "", None
        relative = self.sources.inside(path)
        if relative is None:
            return self.sources.shown(path), None
        return relative, self.sources.facts(relative).classes.get(cls.__qualname__)


def signature(value: Any) -> str:
    """Arguments with defaults as text; empty for what has no signature."""
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    parts = []
    for parameter in found.parameters.values():
        default = (
            ""
            if parameter.default is inspect.Parameter.empty
            else f"={canonical.text(parameter.default)}"
        )
        star = {"VAR_POSITIONAL": "*", "VAR_KEYWORD": "**"}.get(parameter.kind.name, "")
        only = {"KEYWORD_ONLY": "keyword ", "POSITIONAL_ONLY": "positional "}.get(
            parameter.kind.name, ""
        )
        parts.append(f"{only}{star}{parameter.name}{default}")
    return "(" + ", ".join(parts) + ")"
