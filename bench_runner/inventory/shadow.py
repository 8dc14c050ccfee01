# SPDX-License-Identifier: Apache-2.0
"""Labels every test method of a file for every class that runs it, and proves nothing was lost."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from bench_runner.errors import UsageFault
from bench_runner.inventory.consumers import parse
from bench_runner.inventory.decisions import Decisions, apply
from bench_runner.inventory.discovery import Discovery
from bench_runner.inventory.labels import bases
from bench_runner.inventory.labels.decide import Label, decide
from bench_runner.inventory.labels.evidence import Evidence, Finder, Function
from bench_runner.inventory.labels.rules import REVIEW
from bench_runner.inventory.records import ClassIdentity, DiscoveredTest
from bench_runner.inventory.shadow_records import (
    Closure,
    EvidenceRecord,
    LabelName,
    LoaderResult,
    MethodLabel,
    Shadow,
)


@dataclass
class SourceFile:
    """One file of the suite, read for its evidence."""

    path: str
    tree: ast.Module
    accelerators: frozenset[str]
    classes: dict[str, bases.ClassSource]
    functions: dict[int, Function] = field(default_factory=dict)
    """By the line of their ``def``."""
    helpers: dict[str, Function] = field(default_factory=dict)
    _found: dict[int, list[Evidence]] = field(default_factory=dict)

    @classmethod
    def read(cls, root: Path, path: str, copier: str = "copy_tests") -> SourceFile:
        tree = parse(root / path)
        source = cls(path, tree, bases.device_globals(tree), bases.classes(tree))
        for node in ast.walk(tree):
            if isinstance(node, Function):
                source.functions[node.lineno] = node
        runners = {
            value.id
            for item in source.classes.values()
            for name, value in bases.assignments(item.node)
            if isinstance(value, ast.Name)
        }
        # Runners place data wherever the class says; what they name is not the test's affair.
        source.helpers = {
            node.name: node
            for node in tree.body
            if isinstance(node, Function) and node.name not in {*runners, copier}
        }
        return source

    def evidence(self, line: int) -> list[Evidence] | None:
        """Of the function at this line; None where there is none."""
        node = self.functions.get(line)
        if node is None:
            return None
        if line not in self._found:
            self._found[line] = Finder(self.accelerators, self.helpers).of(node)
        return self._found[line]


class Sources:
    """The files of a suite that were read so far."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._files: dict[str, SourceFile | None] = {}

    def get(self, path: str) -> SourceFile | None:
        """None for a file that is not the suite's."""
        if path not in self._files:
            inside = bool(path) and (self.root / path).is_file()
            self._files[path] = SourceFile.read(self.root, path) if inside else None
        return self._files[path]


def base_of(
    key: str, records: dict[str, ClassIdentity], sources: Sources
) -> tuple[str, Evidence, str]:
    """Label, evidence and file of the device that a class is given; its bases are asked as well."""
    record = records[key]
    source = sources.get(record.file)
    written = source.classes.get(record.qualname) if source else None
    if source is not None and written is not None:
        own = bases.own_device(written, source.accelerators)
        if own is not None:
            return (*own, source.path)
    for name in bases.ATTRIBUTES:
        value = record.attributes.get(name, "").strip("'\"")
        if value:
            return (*bases.injected(value, record.line), record.file)
    for parent in record.bases:
        if parent in records:
            label, evidence, file = base_of(parent, records, sources)
            if evidence.rule != "target.none":
                return label, evidence, file
    return (*bases.without(record.line), record.file)


def label_tests(
    tests: Iterable[DiscoveredTest], records: dict[str, ClassIdentity], sources: Sources
) -> list[MethodLabel]:
    """One label for each source method and class, in the order of discovery."""
    groups: dict[tuple[str, str, int, str], list[DiscoveredTest]] = {}
    for test in tests:
        if test.class_key is not None:
            key = (test.found_as, test.source.file, test.source.line, test.base_name)
            groups.setdefault(key, []).append(test)
    found = []
    for (target, file, line, base_name), members in groups.items():
        first = members[0]
        assert first.class_key is not None
        label, evidence, where = base_of(first.class_key, records, sources)
        source = sources.get(file)
        own = source.evidence(line) if source else None
        if own is None:
            outcome = Label(REVIEW, (), (evidence,), f"no source at {file or 'any file'}:{line}")
        else:
            outcome = decide(label, evidence, own)
        owner = first.templates[-1].rpartition("::")[0] if first.templates else first.class_key
        found.append(
            MethodLabel(
                method=f"{owner.partition(':')[2]}.{base_name}",
                file=file,
                line=line,
                body=first.source.body,
                target=target,
                tests=tuple(test.name for test in members),
                label=cast(LabelName, outcome.label),
                capabilities=outcome.capabilities,
                evidence=tuple(
                    EvidenceRecord(
                        rule=item.rule,
                        file=where if item is evidence else file,
                        line=item.line,
                        about=item.about,
                        text=item.text,
                        via=item.via,
                    )
                    for item in outcome.evidence
                ),
                why=outcome.why,
            )
        )
    return found


def make_shadow(path: str, discovery: Discovery, decisions: Decisions | None = None) -> Shadow:
    """Labels the tests of one file and materialises their shadow.

    Raises:
        UsageFault: the file cannot be imported, has no unittest class, or does not fit its wheel.
        InfrastructureFault: a probe died.
    """
    found: dict[str, Any] = discovery.by_file("unittest", [path])[path]["files"][path]
    failure = found.get("import_failure")
    if failure:
        raise UsageFault(f"{path} cannot be imported: {failure['type']}: {failure['message']}")
    tests = [DiscoveredTest(**test) for test in found["tests"]]
    if not tests:
        raise UsageFault(f"{path} has no unittest class with tests on {discovery.profile.name}")
    records = {key: ClassIdentity(**item) for key, item in found["classes"].items()}
    labels = label_tests(tests, records, Sources(discovery.root))
    stale: list[Any] = []
    if decisions is not None:
        labels, stale = apply(labels, decisions)
    answer = discovery.shadow(path, by_test(labels))
    return Shadow(
        file=path,
        platform=discovery.profile.name,
        source_methods=len({(item.file, item.line) for item in labels}),
        labels=tuple(labels),
        closures=tuple(Closure(**item) for item in answer["closures"]),
        loader=LoaderResult(**answer["loader"]),
        stale=tuple(stale),
    )


def by_test(labels: Iterable[MethodLabel]) -> dict[str, dict[str, str]]:
    """For each target the label of each of its tests."""
    found: dict[str, dict[str, str]] = {}
    for item in labels:
        found.setdefault(item.target, {}).update(dict.fromkeys(item.tests, item.label))
    return found
