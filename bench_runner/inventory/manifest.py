# SPDX-License-Identifier: Apache-2.0
"""Puts a manifest together from the probes' answers: unittest's per file, and pytest's."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from bench_runner.contract.record import explain, write_atomically
from bench_runner.errors import InfrastructureFault, UsageFault
from bench_runner.inventory.consumers import consumed, importers, parse
from bench_runner.inventory.discovery import Discovery, file_sha256, probe_sha256
from bench_runner.inventory.records import (
    SCHEMA,
    FileInventory,
    Fingerprints,
    Manifest,
    Patch,
    Platform,
)

Framework = Literal["auto", "unittest", "pytest"]
SLOW_KEY = re.compile(r"^(?P<test>\S+) \((?:__main__|[\w.]+?)\.(?P<class>\w+)(?:\.\w+)?\)$")


def within(path: Path, root: Path) -> Path:
    """A file or folder of a suite, named from here or from the suite's root.

    Raises:
        UsageFault: it is absent, or outside the root.
    """
    full = path.resolve() if path.exists() else (root / path).resolve()
    if not full.exists():
        raise UsageFault(f"{path} does not exist, neither here nor under the suite's root {root}")
    if not full.is_relative_to(root):
        raise UsageFault(f"{path} is outside the suite's root {root}; name it with --root")
    return full


def resolve_paths(paths: Iterable[Path], root: Path, with_consumers: bool) -> list[str]:
    """Files to discover, relative to ``root``: folders are searched for test files.

    Raises:
        UsageFault: a path is absent, outside the root, or nothing is left.
    """
    found: dict[Path, None] = {}
    for path in paths:
        full = within(path, root)
        if full.is_dir():
            found.update(dict.fromkeys(sorted(full.rglob("test_*.py"))))
        elif full.suffix != ".py":
            raise UsageFault(f"{path} is no Python file: name test files, or folders of them")
        else:
            found[full] = None
    if with_consumers:
        found.update(dict.fromkeys(importers(list(found), root)))
    if not found:
        raise UsageFault("no test file under the paths given")
    return [str(path.relative_to(root)) for path in found]


def make_manifest(
    paths: list[str],
    discovery: Discovery,
    framework: Framework = "auto",
    packages: tuple[str, ...] = (),
    slow_tests: Path | None = None,
    shared: bool = False,
) -> Manifest:
    """Discovers ``paths`` (relative to the root) on the discovery's platform.

    Args:
        packages: distributions whose versions are recorded by name.
        slow_tests: JSON file whose keys name slow tests (``test (module.Class)``).
        shared: let pytest collect all files in one process where pytest is the only framework.

    Raises:
        UsageFault: source and packages do not fit, or the profile does not.
        InfrastructureFault: a probe died.
    """
    environment = discovery.environment(tuple(sorted({"torch", "pytest", "triton", *packages})))
    files: dict[str, dict[str, Any]] = {path: {"path": path} for path in paths}
    answers: list[dict[str, Any]] = []
    if framework != "pytest":
        by_file = discovery.by_file("unittest", paths)
        answers += by_file.values()
        for path, answer in by_file.items():
            files[path] = answer["files"][path]
    if framework != "unittest":
        collected = _collect(discovery, paths, alone=framework == "pytest" and not shared)
        answers += collected
        for answer in collected:
            for path, found in answer["files"].items():
                _merge(files[path], found, framework)
        if framework == "auto":
            _collect_again(discovery, files)
    for path, found in files.items():
        _complete(found, path, discovery.root)
    _judge_slow_keys(files, slow_tests)
    first = answers[0]
    try:
        return Manifest(
            platform=Platform(
                name=discovery.profile.name,
                device=discovery.profile.device,
                simulated=discovery.profile.simulated,
                patches=tuple(Patch(**patch) for patch in first["patches"]),
                probes=first["probes"],
            ),
            fingerprints=Fingerprints(
                sources=_sources_sha256(files, discovery.root),
                packages=environment["packages"],
                versions=environment["versions"],
                python=environment["python"],
                probe=probe_sha256(discovery.profile),
            ),
            framework=framework,
            files={path: FileInventory(**found) for path, found in files.items()},
        )
    except ValidationError as error:
        raise InfrastructureFault(f"the probes contradict each other: {explain(error)}") from error


def _collect(discovery: Discovery, paths: list[str], alone: bool) -> list[dict[str, Any]]:
    if alone:
        return list(discovery.by_file("pytest", paths).values())
    return [discovery.together("pytest", paths)]


def _collect_again(discovery: Discovery, files: dict[str, dict[str, Any]]) -> None:
    """Files on which the two differ get a process of their own: a neighbour may have interfered."""
    doubtful = [
        path
        for path, found in files.items()
        if found["loader_only"] or found["pytest_only"] or found.get("pytest_failure")
    ]
    if not doubtful or len(files) == 1:
        return
    for path, answer in discovery.by_file("pytest", doubtful).items():
        found = files[path]
        found["tests"] = [test for test in found["tests"] if "unittest" in test["found_by"]]
        for test in found["tests"]:
            test["found_by"] = ["unittest"]
        found.pop("pytest_failure", None)
        _merge(found, answer["files"][path], "auto")


def _merge(found: dict[str, Any], collected: dict[str, Any], framework: Framework) -> None:
    """Adds what pytest saw of a file to what unittest saw."""
    found.setdefault("tests", [])
    found.setdefault("classes", {})
    ids = set(collected["ids"])
    if framework == "pytest" and ids:
        raise UsageFault(
            f"{found['path']} has unittest classes, which --framework pytest cannot describe; "
            "use auto"
        )
    listed = {test["id"] for test in found["tests"]}
    for test in found["tests"]:
        if test["id"] in ids:
            test["found_by"] = ["unittest", "pytest"]
    found["loader_only"] = sorted(listed - ids)
    found["pytest_only"] = sorted(ids - listed)
    found["tests"] = [*found["tests"], *collected["tests"]]
    for key, record in collected["classes"].items():
        found["classes"].setdefault(key, record)
    found["pytest_compared"] = True
    for name in ("api", "loaded"):
        found.setdefault(name, collected.get(name, {} if name == "api" else []))
    failure = collected.get("import_failure")
    if failure:
        found["pytest_failure"] = failure
        if framework == "pytest":
            found["import_failure"] = failure


def _complete(found: dict[str, Any], path: str, root: Path) -> None:
    found["sha256"] = file_sha256(root / path)
    full = root / path
    if (found.get("import_failure") or {}).get("type") != "SyntaxError":
        found["consumes"] = consumed(full, parse(full), root)
    found["loader_only"] = sorted({*found.get("loader_only", ()), *found.pop("loader_missing", ())})
    found["pytest_only"] = sorted({*found.get("pytest_only", ()), *found.pop("loader_extra", ())})
    failure = found.pop("pytest_failure", None)
    if failure and not found.get("import_failure") and not found.get("tests"):
        found["import_failure"] = failure


def _judge_slow_keys(files: dict[str, dict[str, Any]], slow_tests: Path | None) -> None:
    """A key is dead where its class was discovered and has no such test."""
    if slow_tests is None:
        return
    try:
        keys = json.loads(slow_tests.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageFault(f"{slow_tests} is no JSON file of slow tests: {error}") from error
    for found in files.values():
        tests: dict[str, set[str]] = {}
        for test in found.get("tests", ()):
            tests.setdefault(test["found_as"], set()).add(test["name"])
        dead = []
        for key in keys:
            match = SLOW_KEY.match(key)
            if match and match["class"] in tests and match["test"] not in tests[match["class"]]:
                dead.append(key)
        found["dead_slow_keys"] = sorted(dead)


def _sources_sha256(files: dict[str, dict[str, Any]], root: Path) -> str:
    names = {name for found in files.values() for name in found.get("loaded", ())} | set(files)
    total = hashlib.sha256()
    for name in sorted(names):
        total.update(f"{name} {file_sha256(root / name)}\n".encode())
    return total.hexdigest()


def write_manifest(path: Path, manifest: Manifest) -> None:
    """Writes a manifest, atomically; what has its default value is left out.

    Raises:
        UsageFault: the file cannot be written.
    """
    held = {"schema_version": SCHEMA, **manifest.model_dump(mode="json", exclude_defaults=True)}
    try:
        write_atomically(path.absolute(), _a_test_a_line(held))
    except OSError as error:
        raise UsageFault(f"cannot write {path}: {error.strerror}") from error


def _a_test_a_line(held: dict[str, Any]) -> str:
    """JSON in which version control shows which tests changed."""
    compact = json.JSONEncoder(separators=(",", ":")).encode
    files = []
    for path, found in held.pop("files", {}).items():
        tests = ",\n".join(map(compact, found.pop("tests", ())))
        rest = compact(found)[1:-1]
        files.append(f'{compact(path)}:{{{rest}{"," if rest else ""}"tests":[\n{tests}\n]}}')
    return compact(held)[:-1] + ',"files":{\n' + ",\n".join(files) + "\n}}\n"


def read_manifest(path: Path) -> Manifest:
    """Reads a manifest.

    Raises:
        UsageFault: no manifest, or one of another schema version.
    """
    try:
        text = path.read_text(encoding="utf-8")
        version = json.loads(text).get("schema_version")
    except (OSError, ValueError, AttributeError) as error:
        raise UsageFault(f"{path} is no manifest: {error}") from error
    if version != SCHEMA:
        raise UsageFault(
            f"{path} has schema {version}, this version reads {SCHEMA}: make the manifest again, "
            "manifests of two schemas cannot be compared"
        )
    try:
        return Manifest.model_validate_json(text)
    except ValidationError as error:
        raise UsageFault(f"{path}: {explain(error)}") from error
