# SPDX-License-Identifier: Apache-2.0
"""Findings about files and modules: imports, offered names, failure tables."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from bench_runner.inventory.findings import Finding
from bench_runner.inventory.records import FailureTable, FileInventory, Manifest


def silent_files(before: Manifest, after: Manifest) -> set[str]:
    """Files whose tests are told by one finding about the file."""
    silent = set(before.files) ^ set(after.files)
    for path in set(before.files) & set(after.files):
        if bool(before.files[path].tests) != bool(after.files[path].tests):
            silent.add(path)
    return silent


def file_findings(before: Manifest, after: Manifest) -> Iterator[Finding]:
    """Files that joined, left, broke, were mended or went empty."""
    for path in sorted(set(before.files) | set(after.files)):
        old, new = before.files.get(path), after.files.get(path)
        if old is None or new is None:
            present = old or new
            assert present is not None
            yield Finding(
                kind="file-added" if old is None else "file-removed",
                file=path,
                subject=path,
                detail=f"{len(present.tests)} tests",
                tests=tuple(sorted(test.id for test in present.tests)),
            )
            continue
        yield from _imports(path, old, new)


def _broken(inventory: FileInventory) -> bool:
    return inventory.import_failure is not None and not inventory.import_failure.skipped


def _imports(path: str, old: FileInventory, new: FileInventory) -> Iterator[Finding]:
    lost = tuple(sorted(test.id for test in old.tests))
    if _broken(new) and not _broken(old):
        failure = new.import_failure
        assert failure is not None
        yield Finding(
            kind="import-broken",
            file=path,
            subject=failure.missing or failure.type,
            detail=f"{failure.type}: {failure.message} at {failure.at or 'unknown place'}; "
            f"{len(lost)} tests lost",
            tests=lost,
        )
    elif _broken(old) and not _broken(new):
        yield Finding(
            kind="import-fixed",
            file=path,
            subject=path,
            detail=f"{len(new.tests)} tests",
            tests=tuple(sorted(test.id for test in new.tests)),
        )
    elif old.tests and not new.tests:
        reason = new.import_failure.message if new.import_failure else "no error"
        yield Finding(
            kind="file-emptied",
            file=path,
            subject=path,
            detail=f"{len(lost)} -> 0 tests, {reason}",
            tests=lost,
        )
    elif new.tests and not old.tests:
        yield Finding(
            kind="test-added",
            file=path,
            subject=path,
            detail=f"0 -> {len(new.tests)} tests",
            tests=tuple(sorted(test.id for test in new.tests)),
        )


def consumed_names(manifest: Manifest) -> dict[str, dict[str, set[str]]]:
    """Per file and name, the files that take it."""
    found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for path, inventory in manifest.files.items():
        for item in inventory.consumes:
            for name in item.names:
                found[item.target][name].add(path)
    return found


def module_findings(before: Manifest, after: Manifest) -> Iterator[Finding]:
    """Offered names and failure tables of files that can be imported on both sides."""
    consumed = consumed_names(before)
    for path in sorted(set(before.files) & set(after.files)):
        old, new = before.files[path], after.files[path]
        if _broken(old) or _broken(new):
            continue
        taken = {
            name for item in old.consumes if item.target in before.files for name in item.names
        }
        yield from _api(path, old, new, consumed.get(path, {}), taken)
        yield from _tables(path, old, new)


def _api(
    path: str,
    old: FileInventory,
    new: FileInventory,
    consumed: dict[str, set[str]],
    taken: set[str],
) -> Iterator[Finding]:
    runners = {test.device.runner for test in old.tests}
    for name, item in old.api.items():
        users = consumed.get(name, set())
        who = f"used by {', '.join(sorted(users))}" if users else "runs tests of this file"
        now = new.api.get(name)
        # A name that the file takes from another one is told there.
        if not users and (now is None or name not in runners or name in taken):
            continue
        if now is None:
            yield Finding(kind="api-lost", file=path, subject=name, detail=who)
        elif (item.kind, item.signature) != (now.kind, now.signature):
            yield Finding(
                kind="api-changed",
                file=path,
                subject=name,
                detail=f"{item.kind} {item.signature} -> {now.kind} {now.signature}; {who}",
            )
        elif item.body != now.body:
            yield Finding(kind="helper-changed", file=path, subject=name, detail=who)


def _tables(path: str, old: FileInventory, new: FileInventory) -> Iterator[Finding]:
    before = {table.name: table for table in old.failure_tables}
    after = {table.name: table for table in new.failure_tables}
    marked = _outcomes(old), _outcomes(new)
    for name in sorted(set(before) | set(after)):
        a, b = before.get(name), after.get(name)
        for key in sorted(set(_entries(a)) | set(_entries(b))):
            was, now = _entries(a).get(key), _entries(b).get(key)
            # An entry that has an effect here is told by the marks of the tests that it touches.
            if was == now or marked[0].get(key) != marked[1].get(key):
                continue
            if b is not None and key in b.dead:
                continue
            yield Finding(
                kind="failure-table-changed",
                file=path,
                subject=f"{name}[{key!r}]",
                detail=f"{was or 'absent'} -> {now or 'absent'}",
            )


def _entries(table: FailureTable | None) -> dict[str, str]:
    if table is None:
        return {}
    return {
        key: f"{'skip' if key in table.skips else 'expected failure'} for {', '.join(suffixes)}"
        for key, suffixes in table.entries.items()
    }


def _outcomes(inventory: FileInventory) -> dict[str, set[tuple[str, str]]]:
    """Template method to the outcome marks of its copies."""
    found: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for test in inventory.tests:
        method = test.templates[0].rpartition("::")[2] if test.templates else test.name
        for mark in test.marks:
            if mark.kind in ("skip", "expectedFailure"):
                found[method].add((test.id, mark.kind))
    return found
