# SPDX-License-Identifier: Apache-2.0
"""What is wrong with one manifest by itself, whatever it is compared with."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from bench_runner.inventory.findings import Finding
from bench_runner.inventory.records import DiscoveredTest, FileInventory, Manifest

OUTCOME_MARKS = ("skip", "skipif", "xfail", "expectedFailure", "slow")


def audit(manifest: Manifest) -> list[Finding]:
    """Every standing finding of a manifest."""
    found: list[Finding] = []
    for path, inventory in manifest.files.items():
        for check in CHECKS:
            found += check(path, inventory)
    return found


def _imports(path: str, inventory: FileInventory) -> Iterator[Finding]:
    failure = inventory.import_failure
    if failure is not None and not failure.skipped:
        yield Finding(
            kind="import-failure",
            file=path,
            subject=failure.missing or failure.type,
            detail=f"{failure.type}: {failure.message} at {failure.at or 'unknown place'}",
        )
    elif not inventory.tests:
        detail = failure.message if failure else "imported without an error"
        yield Finding(kind="no-tests", file=path, subject=path, detail=detail)


def _duplicates(path: str, inventory: FileInventory) -> Iterator[Finding]:
    for name, count in inventory.duplicates.items():
        yield Finding(kind="duplicate-id", file=path, subject=name, detail=f"listed {count} times")


def _discovery(path: str, inventory: FileInventory) -> Iterator[Finding]:
    for runner, ids in (("unittest", inventory.loader_only), ("pytest", inventory.pytest_only)):
        if ids:
            yield Finding(
                kind="discovery-differs",
                file=path,
                subject=f"found by {runner} alone",
                tests=ids,
            )


def _tables(path: str, inventory: FileInventory) -> Iterator[Finding]:
    for table in inventory.failure_tables if inventory.tests else ():
        for key in table.dead:
            yield Finding(kind="dead-key", file=path, subject=f"{table.name}[{key!r}]")
        for key in table.string_suffixes:
            yield Finding(
                kind="string-suffix",
                file=path,
                subject=f"{table.name}[{key!r}]",
                detail=f"suffixes are the string {table.entries[key][0]!r}; a tuple is meant",
            )
        yield from _parity(path, inventory, table.name, table.entries)
    for key in inventory.dead_slow_keys:
        yield Finding(kind="dead-slow-key", file=path, subject=key)


def _parity(
    path: str, inventory: FileInventory, name: str, entries: dict[str, tuple[str, ...]]
) -> Iterator[Finding]:
    """A device whose suffix no entry of the table knows starts without any expected failure."""
    known: dict[str, int] = defaultdict(int)
    for suffixes in entries.values():
        for suffix in suffixes:
            known[suffix] += 1
    counts: dict[str, dict[str, list[str]]] = {}
    for test in inventory.tests:
        device = test.device
        if device.suffix and device.suffix == device.named:
            kinds = {mark.kind for mark in test.marks}
            of_suffix = counts.setdefault(device.suffix, {"expectedFailure": [], "skip": []})
            for kind in kinds & set(of_suffix):
                of_suffix[kind].append(test.id)
    # A table of one device's own failures says nothing about another device.
    shared = any(len(suffixes) > 1 for suffixes in entries.values())
    devices_known = sorted(set(known) & set(counts)) if shared else []
    for suffix, marked in counts.items():
        if known.get(suffix) or not devices_known:
            continue
        others = "; ".join(
            f"{other} has {len(counts[other]['expectedFailure'])} expected failures and "
            f"{len(counts[other]['skip'])} skips"
            for other in devices_known
        )
        yield Finding(
            kind="xfail-parity",
            file=path,
            subject=f"{name}: {suffix}",
            detail=f"no entry of {len(entries)} names {suffix}: {len(marked['expectedFailure'])} "
            f"expected failures and {len(marked['skip'])} skips; {others}",
        )


def _identities(path: str, inventory: FileInventory) -> Iterator[Finding]:
    for template in inventory.doubled_templates:
        qualname = template.partition(":")[2]
        modules = next(
            names
            for names in inventory.double_identities.values()
            if template.partition(":")[0] in names
        )
        yield Finding(
            kind="double-identity",
            file=path,
            subject=qualname,
            detail=f"loaded as {' and '.join(modules)}; tests are copied from {template}",
        )


def _shadowed(path: str, inventory: FileInventory) -> Iterator[Finding]:
    for item in inventory.classes.values():
        if item.file != path:
            continue
        for name in item.shadowed:
            yield Finding(kind="shadowed-definition", file=path, subject=f"{item.qualname}.{name}")


def _mapping(path: str, inventory: FileInventory) -> Iterator[Finding]:
    """Source method to target methods: each class that copies a template copies all of it, once."""
    # The suffix tells two copies apart of which one went through a class that nobody kept.
    copied: dict[tuple[str, str, str], dict[str, list[str]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for test in inventory.tests:
        if test.templates and test.class_key and test.device.suffix:
            template, _, method = test.templates[0].rpartition("::")
            copied[test.class_key, template, test.device.suffix][method].append(test.id)
    for (class_key, template, _), methods in copied.items():
        owner = inventory.classes.get(template)
        if owner is None:
            continue
        for missing in sorted(set(owner.own_tests) - set(methods)):
            yield Finding(
                kind="mapping-open",
                file=path,
                subject=f"{template}::{missing} -> {class_key}",
                detail=f"{len(methods)} of {len(owner.own_tests)} methods arrived",
            )
        for method, ids in methods.items():
            names = {test.partition("::")[2].partition("::")[0] for test in ids}
            if len(ids) > len(names):
                yield Finding(
                    kind="mapping-open",
                    file=path,
                    subject=f"{template}::{method} -> {class_key}",
                    detail=f"arrived {len(ids)} times",
                    tests=tuple(sorted(ids)),
                )


def _devices(path: str, inventory: FileInventory) -> Iterator[Finding]:
    wrong: dict[str, list[DiscoveredTest]] = defaultdict(list)
    for test in inventory.tests:
        detail = mismatch(test)
        if detail:
            wrong[f"{test.found_as}: {detail}"].append(test)
    for subject, tests in wrong.items():
        yield Finding(
            kind="device-mismatch",
            file=path,
            subject=subject,
            tests=tuple(sorted(test.id for test in tests)),
        )


def mismatch(test: DiscoveredTest) -> str:
    """What contradicts itself about a test's device; empty where nothing does."""
    device = test.device
    kind = device.device.partition(":")[0]
    if device.named and kind and device.named != kind and device.suffix == device.named:
        return f"named {device.named}, device {kind}"
    if device.runner_device and kind and device.runner_device not in (kind, device.named):
        return f"device {kind}, {device.runner} moves work to {device.runner_device}"
    return ""


CHECKS = (_imports, _duplicates, _discovery, _tables, _identities, _shadowed, _mapping, _devices)
