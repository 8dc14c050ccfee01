# SPDX-License-Identifier: Apache-2.0
"""What a generated adapter calls: it chooses a template's methods by the rules, not by their names.

It runs in the suite's own Python, in a test file of the back end, before and after the suite's file
is imported. New and renamed methods are judged anew each time, so that nothing drifts.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import unittest
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from bench_runner.inventory.labels import bases
from bench_runner.inventory.labels.decide import Label, decide
from bench_runner.inventory.labels.evidence import Evidence, Finder, Function
from bench_runner.inventory.labels.rules import ACCELERATOR, GENERIC
from bench_runner.inventory.probe.layers import unwrap


class AdapterError(RuntimeError):
    """The adapter cannot do its work here; the message says what is missing."""


def registered_device() -> str:
    """The name of the registered PrivateUse1 back end.

    Raises:
        AdapterError: none has registered yet.
    """
    import torch

    name: str = torch._C._get_privateuse1_backend_name()
    if name == "privateuseone" or not hasattr(torch, name):
        raise AdapterError(
            "no PrivateUse1 back end has registered: import its package before this file"
        )
    return name


def announce(module_name: str, values: dict[str, Any]) -> None:
    """Tells the module in which the suite keeps its hardware what there is.

    What the module computed from these names when it was imported (decorators such as
    ``requires_gpu``) is computed again.

    Raises:
        AdapterError: the module has no such name any more.
    """
    module = importlib.import_module(module_name)
    for name, value in values.items():
        if not hasattr(module, name):
            raise AdapterError(f"{module_name} has no {name} any more: generate the adapter anew")
        setattr(module, name, value)
    changed = set(values)
    for statement in ast.parse(inspect.getsource(module)).body:
        if not isinstance(statement, ast.Assign):
            continue
        targets = {item.id for item in statement.targets if isinstance(item, ast.Name)}
        read = {item.id for item in ast.walk(statement.value) if isinstance(item, ast.Name)}
        if read & changed and not targets & values.keys():
            code = ast.Module([statement], [])
            exec(compile(code, str(module.__file__), "exec"), vars(module))
            changed |= targets


def judged(template: type, suite: ModuleType) -> dict[str, Label]:
    """The label of each test method of the template for a class that is given an accelerator."""
    files: dict[str, tuple[dict[int, Function], dict[str, Function], frozenset[str]]] = {}
    given = Evidence(0, "target.device", ACCELERATOR, "the adapter's class")
    labels = {}
    for name, value in vars(template).items():
        chain = unwrap(value) if name.startswith("test") else []
        if not chain:
            continue
        code = chain[-1].function.__code__
        if code.co_filename not in files:
            files[code.co_filename] = _read(code.co_filename)
        functions, helpers, accelerators = files[code.co_filename]
        node = functions.get(code.co_firstlineno)
        if node is not None:
            labels[name] = decide(ACCELERATOR, given, Finder(accelerators, helpers).of(node))
    return labels


def _read(path: str) -> tuple[dict[int, Function], dict[str, Function], frozenset[str]]:
    tree = ast.parse(Path(path).read_bytes())
    functions = {
        # As code objects count: from the first decorator.
        min([node.lineno, *(item.lineno for item in node.decorator_list)]): node
        for node in ast.walk(tree)
        if isinstance(node, Function)
    }
    runners = {
        value.id
        for item in bases.classes(tree).values()
        for _, value in bases.assignments(item.node)
        if isinstance(value, ast.Name)
    }
    helpers = {n.name: n for n in tree.body if isinstance(n, Function) and n.name not in runners}
    helpers.pop("copy_tests", None)
    return functions, helpers, bases.device_globals(tree)


def select(template: type, suite: ModuleType, supports: Callable[[str], bool]) -> type:
    """A stand-in for ``template`` with the methods that are about any accelerator.

    A method that needs a capability asks ``supports`` when it runs, and skips itself aloud.

    Raises:
        AdapterError: not one method is left.
    """
    chosen = {}
    for name, label in judged(template, suite).items():
        if label.label in (ACCELERATOR, GENERIC):
            value = vars(template)[name]
            chosen[name] = _asking(value, label.capabilities, supports)
    if not chosen:
        raise AdapterError(f"no method of {template.__qualname__} is about any accelerator")
    return type(template.__name__, (), chosen)


def _asking(value: Any, capabilities: tuple[str, ...], supports: Callable[[str], bool]) -> Any:
    if not capabilities:
        return value

    @functools.wraps(value)
    def asking(self: Any, *args: Any, **kwargs: Any) -> Any:
        for name in capabilities:
            if not supports(name):
                raise unittest.SkipTest(f"the back end says that it lacks {name}")
        return value(self, *args, **kwargs)

    return asking


def declared(device: str, capability: str) -> bool:
    """What ``torch.<device>.capabilities()`` says, a mapping of names to yes or no.

    Raises:
        AdapterError: there is no such function, or it says nothing of this capability.
    """
    import torch

    provider = getattr(torch, device)
    answers = provider.capabilities() if hasattr(provider, "capabilities") else {}
    if capability not in answers:
        raise AdapterError(f"torch.{device}.capabilities() does not declare {capability!r}")
    return bool(answers[capability])
