# SPDX-License-Identifier: Apache-2.0
"""Reports of real runs, in JUnit's XML: what discovery alone cannot prove of a generation chain."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

from bench_runner.errors import UsageFault
from bench_runner.inventory.records import DiscoveredTest, Manifest

TIERS = ("cpu", "accelerator", "consumers")


@dataclass(frozen=True)
class Evidence:
    """One run: which tests it ran and how they ended."""

    tier: str
    path: str
    ended: dict[tuple[str, str], str]
    """Class name and test name to passed, skipped, failed."""


def read_evidence(tier: str, path: Path) -> Evidence:
    """Reads a JUnit report.

    Raises:
        UsageFault: unknown tier, or no report.
    """
    if tier not in TIERS:
        raise UsageFault(f"no tier {tier}; known are {', '.join(TIERS)}")
    try:
        tree = ElementTree.parse(path)
    except (OSError, ElementTree.ParseError) as error:
        raise UsageFault(f"{path} is no JUnit report: {error}") from error
    ended = {}
    for case in tree.iter("testcase"):
        outcome = "passed"
        if case.find("skipped") is not None:
            outcome = "skipped"
        if case.find("failure") is not None or case.find("error") is not None:
            outcome = "failed"
        class_name = case.get("classname", "").rpartition(".")[2]
        ended[class_name, case.get("name", "")] = outcome
    return Evidence(tier, str(path), ended)


def missing_evidence(
    candidate: Manifest, changes: list[str], evidence: tuple[Evidence, ...]
) -> list[str]:
    """What is still to be run before a change of the generation chain is proven."""
    if not changes:
        return []
    problems = []
    given = {item.tier: item for item in evidence}
    for tier in TIERS:
        if tier not in given:
            problems.append(
                f"{changes[0]} changes what makes the tests: no evidence of tier {tier}"
            )
            continue
        report = given[tier]
        failed = sorted(f"{c}::{n}" for (c, n), how in report.ended.items() if how == "failed")
        if failed:
            problems.append(f"{report.path}: {len(failed)} failed, first {failed[0]}")
        missing = [
            test.id
            for test in candidate.tests
            if _belongs(test, tier, candidate) and (test.found_as, test.name) not in report.ended
        ]
        if missing:
            problems.append(f"{report.path}: {len(missing)} tests were not run, first {missing[0]}")
        if not any(how == "passed" for how in report.ended.values()):
            problems.append(f"{report.path}: no test passed, so it proves nothing")
    return problems


def _belongs(test: DiscoveredTest, tier: str, candidate: Manifest) -> bool:
    """The CPU control group and the consumers are held to the inventory.

    The accelerator's own run happens where the device is, under names that this platform may not
    have; it must have passed tests and failed none.
    """
    if tier == "consumers":
        return bool(candidate.files[test.file].consumes)
    return tier == "cpu" and test.device.device == "cpu"
