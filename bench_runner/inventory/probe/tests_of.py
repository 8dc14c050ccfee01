# SPDX-License-Identifier: Apache-2.0
"""Turns one found test into its record: source, layers, marks, parameters, device."""

from __future__ import annotations

import re
import unittest
from typing import Any

from bench_runner.inventory.probe import canonical
from bench_runner.inventory.probe.identities import Classes, is_test_name
from bench_runner.inventory.probe.layers import Wrapper, cells, plain_function, unwrap
from bench_runner.inventory.probe.sources import Sources

KNOWN_DEVICES = ("cpu", "cuda", "xpu", "mps", "mtia", "hpu", "xla", "meta", "lazy", "privateuse1")
SKIPPING = {"SkipTest", "skipTest", "skip"}
QUIET = {
    "__wrapped__", "__unittest_skip__", "__unittest_skip_why__", "__unittest_expecting_failure__",
    "pytestmark", "slow_test",
}  # fmt: skip
"""Attributes of a function that have a mark or a layer of their own."""
REASONS = ("reason", "msg", "message", "why")


class Describer:
    """Describes the tests of one process."""

    def __init__(self, sources: Sources, classes: Classes, devices: tuple[str, ...]) -> None:
        self.sources = sources
        self.classes = classes
        self.devices = (*devices, *KNOWN_DEVICES)
        self._runner_device: dict[int, str] = {}

    def method(self, cls: type, name: str) -> dict[str, Any]:
        """Everything of a method but its IDs."""
        return self._describe(getattr(cls, name), name, cls, {})

    def function(
        self, function: Any, name: str, cls: type | None, parameters: dict[str, Any]
    ) -> dict[str, Any]:
        """The same for a test that pytest parametrised itself."""
        return self._describe(function, name, cls, parameters)

    def _describe(
        self, value: Any, name: str, cls: type | None, given: dict[str, Any]
    ) -> dict[str, Any]:
        chain = unwrap(value)
        templates = self._templates(chain, cls)
        source = self._source(chain, value)
        parameters = dict(given)
        for wrapper in chain:
            for key, item in wrapper.parameters.items():
                parameters.setdefault(key, item)
        for key, item in _closed_over(chain).items():
            parameters.setdefault(key, item)
        layers = [self._layer(wrapper) for wrapper in chain[:-1]]
        base = self._base_name(chain, templates, name)
        return {
            "name": name,
            "base_name": base,
            "source": source,
            "parameters": {key: canonical.text(item) for key, item in sorted(parameters.items())},
            "layers": layers,
            "templates": templates,
            "marks": self._marks(value, chain, cls),
            "device": self._device(cls, name, base, templates, parameters),
        }

    def _templates(self, chain: list[Wrapper], cls: type | None) -> list[str]:
        found = []
        for wrapper in chain:
            owner = self.classes.owners.get(id(wrapper.function))
            if owner is not None and owner[0] is not cls:
                found.append(f"{self.classes.key(owner[0])}::{owner[1]}")
        return found

    def _source(self, chain: list[Wrapper], value: Any) -> dict[str, Any]:
        if not chain:
            return {"file": "", "line": 0, "qualname": type(value).__qualname__, "body": ""}
        code = chain[-1].function.__code__
        facts = self.sources.function(code)
        return {
            "file": self.sources.shown(code.co_filename),
            "line": facts.line if facts else code.co_firstlineno,
            "qualname": code.co_qualname,
            "body": self.sources.body(code),
            "decorators": list(facts.decorators) if facts else [],
            "arguments": list(facts.arguments)
            if facts
            else list(code.co_varnames[: code.co_argcount]),
        }

    def _layer(self, wrapper: Wrapper) -> dict[str, Any]:
        code = wrapper.function.__code__
        return {
            "name": code.co_qualname,
            "file": self.sources.shown(code.co_filename),
            "line": code.co_firstlineno,
            "body": self.sources.body(code),
            "captures": dict(sorted(wrapper.captures.items())),
            "hidden": wrapper.hidden,
        }

    @staticmethod
    def _base_name(chain: list[Wrapper], templates: list[str], name: str) -> str:
        written = chain[-1].function.__code__.co_name if chain else ""
        if is_test_name(written) and written != "test" and name.startswith(written):
            return written
        if templates:
            return templates[-1].rpartition("::")[2]
        return name

    def _marks(self, value: Any, chain: list[Wrapper], cls: type | None) -> list[dict[str, str]]:
        marks: list[dict[str, str]] = []

        def add(kind: str, name: str = "", reason: str = "", arguments: str = "") -> None:
            mark = {"kind": kind, "name": name, "reason": reason, "arguments": arguments}
            if mark not in marks:
                marks.append(mark)

        for holder in (cls, plain_function(value)):
            if getattr(holder, "__unittest_skip__", False):
                add("skip", reason=str(getattr(holder, "__unittest_skip_why__", "")))
            if getattr(holder, "__unittest_expecting_failure__", False):
                add("expectedFailure")
        outer = plain_function(value)
        for key, item in sorted(vars(outer).items()) if outer else ():
            if key == "slow_test":
                add("slow")
            elif key not in QUIET and not (key.startswith("__") and key.endswith("__")):
                add("custom", name=key, arguments=canonical.text(item))
        for wrapper in chain[:-1]:
            if SKIPPING & set(wrapper.function.__code__.co_names):
                reason = next((wrapper.captures[k] for k in REASONS if k in wrapper.captures), "")
                others = {k: v for k, v in wrapper.captures.items() if k not in REASONS}
                shown = ", ".join(f"{k}={v}" for k, v in sorted(others.items()))
                add("gate", wrapper.function.__code__.co_qualname, reason.strip("'\""), shown)
        return marks

    def _device(
        self,
        cls: type | None,
        name: str,
        base: str,
        templates: list[str],
        parameters: dict[str, Any],
    ) -> dict[str, str]:
        suffix = ""
        if templates:
            copied = templates[0].rpartition("::")[2]
            suffix = name[len(copied) + 1 :] if name.startswith(f"{copied}_") else ""
        tokens = re.split(r"[_\W]+", name[len(base) :] if name.startswith(base) else name)
        named = next((token for token in reversed(tokens) if token in self.devices), "")
        device = _text(getattr(cls, "device", None)) or _text(parameters.get("device"))
        device = device or _text(getattr(cls, "device_type", None))
        runner, runner_device = self._runner(cls)
        return {
            "runner": runner,
            "runner_device": runner_device,
            "device": device,
            "suffix": suffix,
            "named": named,
        }

    def _runner(self, cls: type | None) -> tuple[str, str]:
        if cls is None:
            return "", ""
        function = plain_function(getattr(cls, "common", None))
        if function is not None:
            inner = unwrap(function)[-1].function
            return inner.__code__.co_qualname, self._named_in_globals(inner)
        for base in cls.__mro__[1:]:
            if "device_type" in vars(base) and issubclass(base, unittest.TestCase):
                return base.__qualname__, _text(vars(base)["device_type"])
        return "", ""

    def _named_in_globals(self, function: Any) -> str:
        """The device that a global of the runner names, such as GPU_TYPE."""
        if id(function) not in self._runner_device:
            named = {
                value
                for name in function.__code__.co_names
                if isinstance(value := function.__globals__.get(name), str)
                and value in self.devices
            }
            self._runner_device[id(function)] = ",".join(sorted(named))
        return self._runner_device[id(function)]


def _closed_over(chain: list[Wrapper]) -> dict[str, Any]:
    """Plain values that a generated method closed over: its parameters, though nobody says so."""
    if not chain or "<locals>" not in chain[-1].function.__code__.co_qualname:
        return {}
    return {
        name: item
        for name, item in cells(chain[-1].function).items()
        if isinstance(item, (bool, int, float, str)) or type(item).__name__ == "dtype"
    }


def _text(value: Any) -> str:
    if value is None or callable(value) or isinstance(value, property):
        return ""
    return value if isinstance(value, str) else canonical.text(value)
