# SPDX-License-Identifier: Apache-2.0
"""Findings about classes: their identity, and tests that are found a second time through them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from bench_runner.inventory.findings import Finding
from bench_runner.inventory.records import ClassIdentity, DiscoveredTest, FileInventory, Manifest

DEVICE_ATTRIBUTES = {"device", "device_type", "common", "primary_device"}


def rediscoveries(
    before: Manifest, after: Manifest, added: Iterable[DiscoveredTest]
) -> tuple[list[Finding], list[DiscoveredTest]]:
    """Splits new tests into those that are old ones found again, as findings, and the rest."""
    groups: dict[tuple[str, str], list[DiscoveredTest]] = defaultdict(list)
    for test in added:
        groups[test.file, test.found_as].append(test)
    findings: list[Finding] = []
    rest: list[DiscoveredTest] = []
    for (file, found_as), tests in groups.items():
        inventory = after.files[file]
        key = tests[0].class_key
        identity = inventory.classes.get(key) if key else None
        how = _again(inventory, identity, found_as, before) if identity else None
        if how is None:
            rest += tests
            continue
        kind, detail = how
        again = [test for test in tests if kind != "subclass-rediscovered" or _inherited(test, key)]
        rest += [test for test in tests if test not in again]
        if again:
            findings.append(
                Finding(
                    kind=kind,
                    file=file,
                    subject=found_as,
                    detail=detail,
                    tests=tuple(sorted(test.id for test in again)),
                )
            )
    return findings, rest


def _inherited(test: DiscoveredTest, key: str | None) -> bool:
    return bool(test.templates) and test.templates[0].rpartition("::")[0] != key


def _again(
    inventory: FileInventory, identity: ClassIdentity, found_as: str, before: Manifest
) -> tuple[str, str] | None:
    old = before.files.get(inventory.path)
    known = (
        set(old.classes[identity.key].found_as) if old and identity.key in old.classes else set()
    )
    if len(identity.found_as) > 1 and found_as not in known:
        others = [name for name in identity.found_as if name != found_as]
        return "alias-rediscovered", f"{found_as} is {' and '.join(others)}"
    if identity.file and identity.file != inventory.path and identity.runnable:
        return "import-rediscovered", f"defined in {identity.file}"
    for base in identity.bases:
        parent = inventory.classes.get(base)
        if parent is not None and parent.runnable and parent.found_as and parent.own_tests:
            return "subclass-rediscovered", f"inherits {parent.qualname}"
    return None


def class_findings(
    before: Manifest,
    after: Manifest,
    renamed: dict[str, str],
    moved: set[str],
    silent: set[str],
    edited: set[str],
) -> Iterator[Finding]:
    """Bases, attributes and helpers of classes that are there on both sides.

    Args:
        renamed: ``file::class`` before to after, for classes whose tests were paired.
        moved: classes after whose change of device is told elsewhere.
        silent: files that one finding tells all about.
        edited: functions whose change is told by the tests that they generate.
    """
    for path, inventory in before.files.items():
        if path in silent:
            continue
        for key, old in inventory.classes.items():
            if old.file != path:
                continue
            new = after.files[path].classes.get(key) or _renamed_class(path, old, after, renamed)
            if new is None:
                continue
            parts = list(_differences(old, new, f"{path}::{new.qualname}" in moved, edited))
            if parts:
                yield Finding(
                    kind="class-changed", file=path, subject=old.qualname, detail="; ".join(parts)
                )


def _renamed_class(
    path: str, old: ClassIdentity, after: Manifest, renamed: dict[str, str]
) -> ClassIdentity | None:
    target = renamed.get(f"{path}::{old.qualname}", "")
    file, _, name = target.partition("::")
    if file not in after.files:
        return None
    return next((c for c in after.files[file].classes.values() if c.qualname == name), None)


def _differences(
    old: ClassIdentity, new: ClassIdentity, moved: bool, edited: set[str]
) -> Iterator[str]:
    if [_unnumbered(base) for base in old.bases] != [_unnumbered(base) for base in new.bases]:
        yield f"bases {', '.join(old.bases)} -> {', '.join(new.bases)}"
    if old.runnable != new.runnable:
        yield f"runnable {old.runnable} -> {new.runnable}"
    for name in sorted({*old.attributes, *new.attributes}):
        if name in DEVICE_ATTRIBUTES and moved:
            continue
        a, b = old.attributes.get(name), new.attributes.get(name)
        if a != b:
            yield f"{name}: {a or 'absent'} -> {b or 'absent'}"
    for name in sorted({*old.members, *new.members}):
        if (name in DEVICE_ATTRIBUTES and moved) or f"{old.qualname}.{name}" in edited:
            continue
        if old.members.get(name) != new.members.get(name):
            word = (
                "differs"
                if name in old.members and name in new.members
                else ("lost" if name in old.members else "new")
            )
            yield f"{name}() {word}"


def _unnumbered(key: str) -> str:
    return key.partition("#")[0]
