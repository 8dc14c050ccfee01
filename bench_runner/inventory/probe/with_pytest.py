# SPDX-License-Identifier: Apache-2.0
"""What pytest collects, and everything about the tests that only pytest knows."""

from __future__ import annotations

import inspect
import os
import sys
import unittest
from typing import Any

from bench_runner.inventory.probe import canonical, tables
from bench_runner.inventory.probe.identities import Classes
from bench_runner.inventory.probe.loading import failure
from bench_runner.inventory.probe.sources import Sources
from bench_runner.inventory.probe.tests_of import Describer


class Collector:
    """The plug-in that listens to a collection."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self.failed: dict[str, dict[str, Any]] = {}
        self.sources: Sources | None = None

    def pytest_itemcollected(self, item: Any) -> None:
        self.items.append(item)

    def pytest_exception_interact(self, node: Any, call: Any, report: Any) -> None:
        assert self.sources is not None
        error = call.excinfo.value
        cause = error.__cause__ or error
        path = self.sources.inside(str(node.path))
        if path is not None:
            self.failed.setdefault(path, failure(cause, self.sources))

    def pytest_collectreport(self, report: Any) -> None:
        if report.outcome == "skipped" and report.nodeid:
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else ""
            self.failed.setdefault(
                report.nodeid,
                {"type": "Skipped", "message": str(reason), "skipped": True},
            )


def discover(
    paths: list[str], sources: Sources, devices: tuple[str, ...], arguments: list[str]
) -> dict[str, dict[str, Any]]:
    """Per file: IDs in unittest classes, full records of all other tests, why it failed."""
    import pytest

    collector = Collector()
    collector.sources = sources
    os.chdir(sources.root)
    sys.argv = ["pytest"]
    flags = ["--collect-only", "-q", "-p", "no:cacheprovider", "--continue-on-collection-errors"]
    code = pytest.main([*flags, *arguments, *paths], plugins=[collector])
    found: dict[str, dict[str, Any]] = {
        path: {"path": path, "ids": [], "tests": [], "classes": {}} for path in paths
    }
    if code not in (0, 1, 2, 5):
        raise RuntimeError(f"pytest could not collect: exit code {int(code)}")
    classes = Classes(sources)
    by_file = classes.read_modules()
    describer = Describer(sources, classes, devices)
    for item in collector.items:
        path = sources.inside(str(item.path))
        if path not in found:
            continue
        cls = getattr(item, "cls", None)
        inner = item.nodeid.partition("::")[2]
        if cls is not None and issubclass(cls, unittest.TestCase):
            found[path]["ids"].append(f"{path}::{inner}")
            continue
        found[path]["tests"].append(_test(item, path, inner, cls, describer, classes))
        if cls is not None:
            key = classes.key(cls)
            found[path]["classes"][key] = classes.describe(cls, [cls.__name__], True)
    for key, reason in collector.failed.items():
        path = sources.inside(str(sources.root / key.partition("::")[0])) or key
        if path in found:
            found[path]["import_failure"] = reason
    _add_modules(found, by_file, classes)
    return found


def _test(
    item: Any, path: str, inner: str, cls: type | None, describer: Describer, classes: Classes
) -> dict[str, Any]:
    call = getattr(item, "callspec", None)
    function = getattr(item, "obj", None)
    function = getattr(function, "__func__", function)
    parameters = dict(call.params) if call else {}
    # What a fixture's parameter stands for is its value; the fixture's own name is the key.
    record = describer.function(function, item.name, cls, parameters)
    record["base_name"] = getattr(item, "originalname", None) or record["base_name"]
    marks = [mark for mark in record["marks"] if mark["kind"] != "custom"]
    for mark in item.iter_markers():
        marks.append(_mark(mark))
    record["marks"] = [mark for i, mark in enumerate(marks) if mark not in marks[:i]]
    if function is not None and inspect.isfunction(function):
        record["source"]["arguments"] = list(inspect.signature(function).parameters)
    return {
        "id": f"{path}::{inner}",
        "unittest_id": None,
        "file": path,
        "module": item.module.__name__,
        "class_key": classes.key(cls) if cls else None,
        "found_as": cls.__name__ if cls else "",
        "found_by": ["pytest"],
        **record,
    }


def _mark(mark: Any) -> dict[str, str]:
    kind = mark.name if mark.name in ("skip", "skipif", "xfail", "slow") else "custom"
    arguments = list(map(canonical.text, mark.args))
    if mark.name == "parametrize":
        # The values are in each test's own parameters; here they would change every test at once.
        arguments = arguments[:1]
    arguments += [
        f"{k}={canonical.text(v)}" for k, v in sorted(mark.kwargs.items()) if k != "reason"
    ]
    return {
        "kind": kind,
        "name": mark.name if kind == "custom" else "",
        "reason": str(mark.kwargs.get("reason", "")),
        "arguments": ", ".join(arguments),
    }


def _add_modules(
    found: dict[str, dict[str, Any]], by_file: dict[str, list[str]], classes: Classes
) -> None:
    for path, inventory in found.items():
        names = by_file.get(path, [])
        if names:
            inventory["api"] = tables.api(sys.modules[names[0]], classes)
        inventory["loaded"] = sorted(by_file)
