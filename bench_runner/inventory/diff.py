# SPDX-License-Identifier: Apache-2.0
"""The difference of two manifests, cause by cause: each change is one finding, however many tests
it touches, and what a finding explains is not said again.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from bench_runner.inventory.audit import audit, mismatch
from bench_runner.inventory.classes import class_findings, rediscoveries
from bench_runner.inventory.findings import Difference, Finding
from bench_runner.inventory.metadata import compare
from bench_runner.inventory.modules import file_findings, module_findings, silent_files
from bench_runner.inventory.pairing import Pairing, pair
from bench_runner.inventory.records import DiscoveredTest, Manifest

Pair = tuple[DiscoveredTest, DiscoveredTest]


def diff(before: Manifest, after: Manifest) -> Difference:
    """Everything that differs from ``before`` to ``after``."""
    findings = list(file_findings(before, after))
    silent = silent_files(before, after)
    pairing = pair(
        (test for test in before.tests if test.file not in silent),
        (test for test in after.tests if test.file not in silent),
    )
    found, pairing.added = rediscoveries(before, after, pairing.added)
    findings += found
    renames, class_pairs = _renamed(pairing.renamed)
    findings += renames
    changed = _changed_sources(pairing)
    findings += _gone_and_come(pairing, changed)
    findings += _metadata(pairing, changed)
    devices, moved = _devices(pairing)
    findings += devices
    edited = {item.subject for item in findings if item.kind == "body-changed"}
    findings += class_findings(before, after, class_pairs, moved, silent, edited)
    findings += module_findings(before, after)
    standing_before, standing_after = audit(before), audit(after)
    fresh, standing = _standing(standing_before, standing_after, findings)
    findings += fresh
    return Difference(
        before=label(before),
        after=label(after),
        tests_before=len(before.tests),
        tests_after=len(after.tests),
        findings=tuple(findings),
        standing=tuple(standing),
    )


def label(manifest: Manifest) -> str:
    return f"{manifest.platform.name} {manifest.fingerprints.sources[:12]}"


def source_of(test: DiscoveredTest) -> str:
    """What somebody wrote: the source method, or the function that generates methods."""
    return test.source.qualname.partition(".<locals>")[0] or test.base_name


def _variant_of(test: DiscoveredTest) -> tuple[str, str, str]:
    """A source method in one class. Methods that one function generates are its variants."""
    generated = "<locals>" in test.source.qualname
    return test.file, test.found_as, source_of(test) if generated else test.base_name


def _by_place(
    tests: Iterable[DiscoveredTest],
) -> dict[tuple[str, str], list[DiscoveredTest]]:
    groups: dict[tuple[str, str], list[DiscoveredTest]] = defaultdict(list)
    for test in tests:
        groups[_place(test)].append(test)
    return groups


def _ids(tests: Iterable[DiscoveredTest]) -> tuple[str, ...]:
    return tuple(sorted(test.id for test in tests))


def _place(test: DiscoveredTest) -> tuple[str, str]:
    return test.source.file or test.file, source_of(test)


def _renamed(pairs: list[Pair]) -> tuple[list[Finding], dict[str, str]]:
    """Renames, with those of a whole class told as one."""
    findings: list[Finding] = []
    classes: dict[str, str] = {}
    moves: dict[tuple[str, str, str, str], list[Pair]] = defaultdict(list)
    for old, new in pairs:
        moves[old.file, old.found_as, new.file, new.found_as].append((old, new))
    for (file, found_as, new_file, new_found_as), members in moves.items():
        ids = tuple(sorted(old.id for old, _ in members))
        renames = {old.id: new.id for old, new in members}
        suffixes = {(old.device.suffix, new.device.suffix) for old, new in members}
        names_kept = all(old.name == new.name for old, new in members)
        if (file, found_as) != (new_file, new_found_as):
            classes[f"{file}::{found_as}"] = f"{new_file}::{new_found_as}"
            whole = names_kept or len(suffixes) == 1
            kind = "class-renamed" if whole and file == new_file else "test-moved"
            findings.append(
                Finding(
                    kind=kind if len(members) > 1 else "test-moved",
                    file=file,
                    subject=found_as,
                    detail=f"{file}::{found_as} -> {new_file}::{new_found_as}"
                    + _suffix_text(suffixes),
                    tests=ids,
                    renames=renames,
                )
            )
        elif len(suffixes) == 1 and (change := next(iter(suffixes)))[0] != change[1]:
            findings.append(
                Finding(
                    kind="suffix-renamed",
                    file=file,
                    subject=found_as,
                    detail=f"{change[0] or 'none'} -> {change[1] or 'none'}",
                    tests=ids,
                    renames=renames,
                )
            )
    findings += _renamed_methods(pairs)
    return findings, classes


def _suffix_text(suffixes: set[tuple[str, str]]) -> str:
    changed = sorted(f"{old} -> {new}" for old, new in suffixes if old != new)
    return f"; suffix {', '.join(changed)}" if changed else ""


def _renamed_methods(pairs: list[Pair]) -> list[Finding]:
    findings = []
    groups: dict[tuple[str, str, str], list[Pair]] = defaultdict(list)
    for old, new in pairs:
        same_class = (old.file, old.found_as) == (new.file, new.found_as)
        if same_class and old.device.suffix == new.device.suffix:
            file, source = _place(old)
            groups[file, source, source_of(new)].append((old, new))
    for (file, source, new_source), members in groups.items():
        findings.append(
            Finding(
                kind="test-renamed",
                file=file,
                subject=source,
                detail=f"{source} -> {new_source}" if source != new_source else "other names",
                tests=tuple(sorted(old.id for old, _ in members)),
                renames={old.id: new.id for old, new in members},
            )
        )
    return findings


def _changed_sources(pairing: Pairing) -> set[tuple[str, str, str]]:
    """Source methods per class that are on both sides with other variants."""
    kept = {
        _variant_of(test) for old, new in [*pairing.same, *pairing.renamed] for test in (old, new)
    }
    removed = set(map(_variant_of, pairing.removed))
    added = set(map(_variant_of, pairing.added))
    return ((removed | added) & kept) | (removed & added)


def _gone_and_come(pairing: Pairing, changed: set[tuple[str, str, str]]) -> list[Finding]:
    def variant(test: DiscoveredTest) -> bool:
        return _variant_of(test) in changed

    findings, removed, added = _whole_classes(pairing)
    for kind, tests in (("test-removed", removed), ("test-added", added)):
        for place, members in _by_place(t for t in tests if not variant(t)).items():
            file, source = place
            findings.append(Finding(kind=kind, file=file, subject=source, tests=_ids(members)))
    gone = _by_place(filter(variant, pairing.removed))
    come = _by_place(filter(variant, pairing.added))
    for place in sorted({*gone, *come}):
        file, source = place
        lost, won = gone.get(place, []), come.get(place, [])
        findings.append(
            Finding(
                kind="parameters-changed",
                file=file,
                subject=source,
                detail=f"{len(lost)} variants gone, {len(won)} new",
                tests=_ids([*lost, *won]),
            )
        )
    return findings


def _whole_classes(
    pairing: Pairing,
) -> tuple[list[Finding], list[DiscoveredTest], list[DiscoveredTest]]:
    """Classes that went or came with all their tests, and the tests of all others."""
    paired = [*pairing.same, *pairing.renamed]
    findings, rest = [], []
    for kind, tests, kept in (
        ("class-removed", pairing.removed, {(a.file, a.found_as) for a, _ in paired}),
        ("class-added", pairing.added, {(b.file, b.found_as) for _, b in paired}),
    ):
        groups: dict[tuple[str, str], list[DiscoveredTest]] = defaultdict(list)
        for test in tests:
            groups[test.file, test.found_as].append(test)
        whole = {
            place
            for place, members in groups.items()
            if place not in kept and place[1] and len(members) > 1
        }
        findings += [
            Finding(kind=kind, file=file, subject=name, tests=_ids(groups[file, name]))
            for file, name in sorted(whole)
        ]
        rest.append([test for test in tests if (test.file, test.found_as) not in whole])
    return findings, rest[0], rest[1]


def _metadata(pairing: Pairing, changed: set[tuple[str, str, str]]) -> list[Finding]:
    """Changes of paired tests, one finding for each source method and change."""
    groups: dict[tuple[str, str, str, str], list[str]] = defaultdict(list)
    parity: dict[tuple[str, str, str], list[Pair]] = defaultdict(list)
    for old, new in [*pairing.same, *pairing.renamed]:
        varied = _variant_of(old) in changed
        for change in compare(old, new, varied):
            if old.device.suffix != new.device.suffix and change.kind.startswith("mark-"):
                parity[old.file, old.device.suffix, new.device.suffix].append((old, new))
                continue
            file, source = _place(old)
            groups[change.kind, file, source, change.detail].append(new.id)
    findings = [
        Finding(kind=kind, file=file, subject=source, detail=detail, tests=tuple(sorted(ids)))
        for (kind, file, source, detail), ids in groups.items()
    ]
    return _merge_layers(findings) + [
        _parity(*place, pairs, pairing) for place, pairs in parity.items()
    ]


def _merge_layers(findings: list[Finding]) -> list[Finding]:
    """What a wrapper or a class does to every test under it is one finding, not hundreds."""
    wrappers: dict[tuple[str, str], list[Finding]] = defaultdict(list)
    rest = []
    for finding in findings:
        if finding.kind.startswith(("layer-", "gate-", "mark-")) and "@" not in finding.detail:
            wrappers[finding.kind, finding.detail].append(finding)
        else:
            rest.append(finding)
    for (kind, detail), members in wrappers.items():
        if len(members) == 1:
            rest += members
            continue
        tests = tuple(sorted(test for member in members for test in member.tests))
        rest.append(
            Finding(
                kind=kind,
                file=members[0].file,
                subject=f"{len(members)} source methods",
                detail=detail,
                tests=tests,
            )
        )
    return rest


def _parity(file: str, old: str, new: str, pairs: list[Pair], pairing: Pairing) -> Finding:
    members = [
        (a, b)
        for a, b in pairing.renamed
        if (a.file, a.device.suffix, b.device.suffix) == (file, old, new)
    ]

    def count(tests: Iterable[DiscoveredTest], kind: str) -> int:
        return sum(any(mark.kind == kind for mark in test.marks) for test in tests)

    numbers = [
        f"{suffix}: {count(tests, 'expectedFailure')} expected failures, "
        f"{count(tests, 'skip')} skips"
        for suffix, tests in (
            (old, [a for a, _ in members]),
            (new, [b for _, b in members]),
        )
    ]
    return Finding(
        kind="xfail-parity",
        file=file,
        subject=f"{old} -> {new}",
        detail="; ".join(numbers),
        tests=tuple(sorted(b.id for _, b in pairs)),
    )


def _devices(pairing: Pairing) -> tuple[list[Finding], set[str]]:
    """Tests whose device or runner changed, by class; a new suffix alone is told as a rename."""
    groups: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    classes = set()
    for old, new in [*pairing.same, *pairing.renamed]:
        a, b = old.device, new.device
        parts = [
            f"{name} {getattr(a, name) or 'none'} -> {getattr(b, name) or 'none'}"
            for name in ("device", "runner", "runner_device")
            if getattr(a, name) != getattr(b, name)
        ]
        if not parts:
            continue
        wrong = mismatch(new)
        if wrong and wrong != mismatch(old):
            parts.append(f"now {wrong}")
        groups[new.file, new.found_as, "; ".join(parts)].append(new.id)
        classes.add(f"{new.file}::{new.found_as}")
    findings = [
        Finding(
            kind="device-changed",
            file=file,
            subject=found_as,
            detail=detail,
            tests=tuple(sorted(ids)),
        )
        for (file, found_as, detail), ids in groups.items()
    ]
    return findings, classes


def _standing(
    before: list[Finding], after: list[Finding], findings: list[Finding]
) -> tuple[list[Finding], list[Finding]]:
    """Divides what is wrong after into new and old; what a finding explains is neither."""
    had = Counter((item.kind, item.file, item.subject) for item in before)
    explained = {
        "duplicate-id": {item.file for item in findings if item.kind == "alias-rediscovered"},
        "no-tests": {item.file for item in findings if item.kind == "file-emptied"},
        "import-failure": {
            item.file for item in findings if item.kind in ("import-broken", "file-added")
        },
        "device-mismatch": {item.file for item in findings if item.kind == "device-changed"},
        "discovery-differs": set(),
    }
    fresh, standing = [], []
    for item in after:
        if had[item.kind, item.file, item.subject]:
            standing.append(item)
        elif item.file not in explained.get(item.kind, ()):
            fresh.append(item)
    return fresh, standing
