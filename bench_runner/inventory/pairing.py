# SPDX-License-Identifier: Apache-2.0
"""Which test of one manifest is which of another, when names have changed.

Tests are paired in rounds, from the strictest evidence to the loosest. A round pairs only what its
evidence tells apart: where several tests look alike on both sides, they are paired in the order of
their names if their number is equal, and not at all otherwise.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field

from bench_runner.inventory.records import DiscoveredTest

Evidence = Callable[[DiscoveredTest], Hashable]


@dataclass
class Pairing:
    same: list[tuple[DiscoveredTest, DiscoveredTest]] = field(default_factory=list)
    """Equal IDs."""
    renamed: list[tuple[DiscoveredTest, DiscoveredTest]] = field(default_factory=list)
    removed: list[DiscoveredTest] = field(default_factory=list)
    added: list[DiscoveredTest] = field(default_factory=list)


def _body(test: DiscoveredTest) -> Hashable:
    return test.source.body, tuple(sorted(test.parameters.items()))


ROUNDS: tuple[Evidence, ...] = (
    # Another suffix: same class, same source method.
    lambda t: (t.file, t.found_as, t.base_name, _body(t), _spread(t)),
    # Another method name: same class, same body.
    lambda t: (t.file, t.found_as, _tail(t), _body(t)),
    # Another class: same method, same name.
    lambda t: (t.file, t.name, _body(t)),
    # Another class and suffix.
    lambda t: (t.file, t.base_name, _body(t), _spread(t)),
    # Another file.
    lambda t: (t.found_as, t.name, _body(t)),
)


def _spread(test: DiscoveredTest) -> Hashable:
    """What of a name is neither the source method nor the copy's suffix."""
    name = test.name.removeprefix(test.base_name)
    return name.removesuffix(test.device.suffix) if test.device.suffix else name


def _tail(test: DiscoveredTest) -> Hashable:
    return test.name.removeprefix(test.base_name)


def pair(before: Iterable[DiscoveredTest], after: Iterable[DiscoveredTest]) -> Pairing:
    """Pairs the tests of two manifests."""
    old = {test.id: test for test in before}
    new = {test.id: test for test in after}
    result = Pairing(same=[(old[key], new[key]) for key in old if key in new])
    removed = [test for key, test in old.items() if key not in new]
    added = [test for key, test in new.items() if key not in old]
    for evidence in ROUNDS:
        if not removed or not added:
            break
        pairs = _round(removed, added, evidence)
        result.renamed += pairs
        gone = {test.id for test, _ in pairs}
        come = {test.id for _, test in pairs}
        removed = [test for test in removed if test.id not in gone]
        added = [test for test in added if test.id not in come]
    result.removed, result.added = removed, added
    return result


def _round(
    removed: list[DiscoveredTest], added: list[DiscoveredTest], evidence: Evidence
) -> list[tuple[DiscoveredTest, DiscoveredTest]]:
    groups: dict[Hashable, tuple[list[DiscoveredTest], list[DiscoveredTest]]] = defaultdict(
        lambda: ([], [])
    )
    for test in removed:
        groups[evidence(test)][0].append(test)
    for test in added:
        groups[evidence(test)][1].append(test)
    pairs: list[tuple[DiscoveredTest, DiscoveredTest]] = []
    for old, new in groups.values():
        if len(old) == len(new):
            pairs += zip(
                sorted(old, key=lambda t: t.id), sorted(new, key=lambda t: t.id), strict=True
            )
    return pairs
