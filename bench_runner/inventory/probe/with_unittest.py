# SPDX-License-Identifier: Apache-2.0
"""What unittest finds in one file, and everything about it."""

from __future__ import annotations

import types
import unittest
from collections import Counter
from collections.abc import Iterator
from typing import Any

from bench_runner.inventory.probe import tables
from bench_runner.inventory.probe.identities import Classes
from bench_runner.inventory.probe.loading import check_fit, failure, load
from bench_runner.inventory.probe.sources import Sources
from bench_runner.inventory.probe.tests_of import Describer


def discover(path: str, sources: Sources, devices: tuple[str, ...]) -> dict[str, Any]:
    """The unittest part of a file's inventory.

    Raises:
        Unfit: source and installed packages do not belong together.
    """
    full = sources.root / path
    try:
        check_fit(full, sources)
        module = load(full)
    except (unittest.SkipTest, SyntaxError, ImportError, Exception) as error:
        if type(error).__name__ == "Unfit":
            raise
        return {"path": path, "import_failure": failure(error, sources)}
    except SystemExit as error:
        wrapped = RuntimeError(f"the file left the process with exit code {error.code}")
        return {"path": path, "import_failure": failure(wrapped, sources)}
    return _describe(path, module, sources, devices)


def _describe(
    path: str, module: types.ModuleType, sources: Sources, devices: tuple[str, ...]
) -> dict[str, Any]:
    loader = unittest.TestLoader()
    classes = Classes(sources)
    by_file = classes.read_modules()
    describer = Describer(sources, classes, devices)
    found_as = _found_as(module)
    tests, expected = [], Counter[str]()
    for names, cls in found_as.values():
        if not _runnable(cls):
            continue
        key = classes.key(cls)
        for method in loader.getTestCaseNames(cls):
            record = describer.method(cls, method)
            for name in names:
                unittest_id = f"{cls.__module__}.{cls.__qualname__}.{method}"
                expected[unittest_id] += 1
                tests.append(
                    {
                        "id": f"{path}::{name}::{method}",
                        "unittest_id": unittest_id,
                        "file": path,
                        "module": cls.__module__,
                        "class_key": key,
                        "found_as": name,
                        "found_by": ["unittest"],
                        **record,
                    }
                )
    listed = Counter(_id(test) for test in _flatten(loader.loadTestsFromModule(module)))
    doubled = {file: sorted(names) for file, names in by_file.items() if len(names) > 1}
    return {
        "path": path,
        "tests": tests,
        "duplicates": {name: count for name, count in sorted(listed.items()) if count > 1},
        "classes": _class_records(classes, found_as, tests),
        "failure_tables": tables.failure_tables(module, _known_names(classes, tests)),
        "api": tables.api(module, classes),
        "double_identities": doubled,
        "doubled_templates": _doubled_templates(tests, doubled),
        "loader_missing": sorted((expected - listed).elements()),
        "loader_extra": sorted((listed - expected).elements()),
        "loaded": sorted(by_file),
    }


def _id(test: Any) -> str:
    # A file whose load_tests fails is listed as one failed test; its ID carries the message.
    return str(test.id())


def _flatten(suite: Any) -> Iterator[Any]:
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from _flatten(item)
        else:
            yield item


def _found_as(module: types.ModuleType) -> dict[int, tuple[list[str], type]]:
    found: dict[int, tuple[list[str], type]] = {}
    for name in dir(module):
        value = getattr(module, name, None)
        if isinstance(value, type):
            found.setdefault(id(value), ([], value))[0].append(name)
    return found


def _runnable(cls: type) -> bool:
    return issubclass(cls, unittest.TestCase) and cls not in (
        unittest.TestCase,
        unittest.FunctionTestCase,
    )


def _class_records(
    classes: Classes, found_as: dict[int, tuple[list[str], type]], tests: list[dict[str, Any]]
) -> dict[str, dict[str, Any]]:
    wanted: dict[int, type] = {}
    for _, cls in found_as.values():
        for item in cls.__mro__:
            if classes.is_suite(item):
                wanted[id(item)] = item
    copied = {key.rpartition("::")[0] for test in tests for key in test["templates"]}
    for owner, _ in classes.owners.values():
        if classes.key(owner) in copied:
            wanted[id(owner)] = owner
    names = {key: value[0] for key, value in found_as.items()}
    # Classes that pytest or unittest find although they come from elsewhere need a record as well.
    held = {test["class_key"] for test in tests}
    for _, cls in found_as.values():
        if classes.key(cls) in held:
            wanted[id(cls)] = cls
    return {
        classes.key(cls): classes.describe(cls, names.get(id(cls), []), _runnable(cls))
        for cls in wanted.values()
    }


def _known_names(classes: Classes, tests: list[dict[str, Any]]) -> set[str]:
    known = {attribute for _, attribute in classes.owners.values()}
    known.update(test["base_name"] for test in tests)
    known.update(test["name"] for test in tests)
    return known


def _doubled_templates(tests: list[dict[str, Any]], doubled: dict[str, list[str]]) -> list[str]:
    aliases = {name for names in doubled.values() for name in names}
    used = {key.rpartition("::")[0] for test in tests for key in test["templates"]}
    return sorted(key for key in used if key.partition(":")[0] in aliases)
