# SPDX-License-Identifier: Apache-2.0
"""Takes a test apart, wrapper by wrapper, down to the method that somebody wrote.

``functools.wraps`` cannot be trusted for this: a copy whose ``__dict__`` was replaced by a deep
copy of the original's carries the original's ``__wrapped__`` and so leads past a layer. Each
wrapper is therefore searched where it keeps what it calls: default arguments, closure cells, and
only then ``__wrapped__``.
"""

from __future__ import annotations

import functools
import types
from dataclasses import dataclass, field
from typing import Any

from bench_runner.inventory.probe import canonical

DEEPEST = 64
CALLED = ("fn", "func", "f", "test", "method", "function", "test_fn", "orig", "wrapped", "value")
"""Names under which wrappers keep what they call, for functions whose name tells nothing."""


@dataclass
class Wrapper:
    """One function on the way down."""

    function: types.FunctionType
    captures: dict[str, str] = field(default_factory=dict)
    parameters: dict[str, Any] = field(default_factory=dict)
    """Keyword arguments that this wrapper adds (``param_kwargs``)."""
    hidden: bool = False
    objects: list[Any] = field(default_factory=list)
    """Captured values themselves."""


def plain_function(value: Any) -> types.FunctionType | None:
    """The function inside a method, partial, staticmethod or classmethod, or None."""
    for _ in range(DEEPEST):
        if isinstance(value, types.FunctionType):
            return value
        if isinstance(value, types.MethodType):
            value = value.__func__
        elif isinstance(value, functools.partial):
            value = value.func
        elif isinstance(value, (staticmethod, classmethod)):
            value = value.__func__
        else:
            return None
    return None


def cells(function: types.FunctionType) -> dict[str, Any]:
    """Closure variables that have a value."""
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:
            continue
    return found


def defaults(function: types.FunctionType) -> dict[str, Any]:
    """Arguments with default values, by name."""
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]
    given = function.__defaults__ or ()
    found = dict(zip(names[len(names) - len(given) :], given, strict=True))
    found.update(function.__kwdefaults__ or {})
    return found


def _is_test(function: types.FunctionType) -> bool:
    return function.__name__.startswith("test") or function.__code__.co_name.startswith("test")


def _next(function: types.FunctionType) -> tuple[str, types.FunctionType] | None:
    """What ``function`` calls, and the name under which it keeps it."""
    kept = [*defaults(function).items(), *cells(function).items()]
    functions = [(name, plain) for name, item in kept if (plain := plain_function(item))]
    functions = [(name, item) for name, item in functions if item is not function]
    declared = plain_function(function.__dict__.get("__wrapped__"))
    # A written test may close over helpers of any name; only a wrapper has another test inside,
    # or says by functools.wraps that it has one.
    for name, item in functions:
        if item.__name__ == function.__name__ and _is_test(item):
            return name, item
    tests = [(name, item) for name, item in functions if _is_test(item)]
    if tests:
        return tests[0]
    if declared is not None:
        for name, item in functions:
            if item is declared:
                return name, item
        for name, item in functions:
            if name in CALLED:
                return name, item
        return "__wrapped__", declared
    return None


def unwrap(value: Any) -> list[Wrapper]:
    """The functions from ``value`` (outermost) to the written method; none for no function."""
    chain: list[Wrapper] = []
    function = plain_function(value)
    seen: set[int] = set()
    while function is not None and id(function) not in seen and len(chain) < DEEPEST:
        seen.add(id(function))
        step = _next(function)
        wrapper = Wrapper(function)
        chain.append(wrapper)
        if step is None:
            break
        kept = {**defaults(function), **cells(function)}
        for name, item in kept.items():
            if plain_function(item) is step[1]:
                continue
            if name in ("param_kwargs", "kwargs", "param_dict") and isinstance(item, dict):
                wrapper.parameters.update(item)
            elif not isinstance(item, type) or name not in ("cls", "generic_cls", "__class__"):
                wrapper.captures[name] = canonical.text(item)
                wrapper.objects.append(item)
        declared = plain_function(function.__dict__.get("__wrapped__"))
        wrapper.hidden = declared is not step[1]
        function = step[1]
    return chain
