# SPDX-License-Identifier: Apache-2.0
"""The gate on this project's own suite opens for a loss, and not for an addition."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench_runner.inventory.approvals import load_approvals
from bench_runner.inventory.gate import Report, judge
from bench_runner.inventory.manifest import read_manifest
from bench_runner.inventory.records import DiscoveredTest, Manifest

HELD = Path(__file__).parents[2] / "inventory"
FILE = "tests/test_softmax.py"
LOSSES = {"removed", "lost", "renamed", "emptied", "broken"}


@pytest.fixture(scope="module")
def baseline() -> Manifest:
    return read_manifest(HELD / "baseline.json")


def judged(baseline: Manifest, tests: tuple[DiscoveredTest, ...]) -> Report:
    """The report on a suite whose softmax file holds ``tests``."""
    file = baseline.files[FILE].model_copy(update={"tests": tests})
    candidate = baseline.model_copy(update={"files": {**baseline.files, FILE: file}})
    return judge(baseline, candidate, load_approvals(HELD / "approved.yaml"))


def found(report: Report) -> list[str]:
    return [item.kind for result in report.gates for item in result.unapproved]


def test_the_baseline_passes_its_own_gate(baseline: Manifest) -> None:
    assert judged(baseline, baseline.files[FILE].tests).passed


def test_a_lost_variant_and_a_lost_test_are_named(baseline: Manifest) -> None:
    tests = baseline.files[FILE].tests
    assert found(judged(baseline, tests[1:])) == ["parameters-changed"]
    first = tests[0].base_name
    without = tuple(test for test in tests if test.base_name != first)
    assert "test-removed" in found(judged(baseline, without))


def test_a_lost_operators_mark_is_named(baseline: Manifest) -> None:
    first, *rest = baseline.files[FILE].tests
    bare = first.model_copy(update={"marks": ()})
    assert "custom-mark-changed" in found(judged(baseline, (bare, *rest)))


def test_a_new_test_needs_no_approval(baseline: Manifest) -> None:
    tests = baseline.files[FILE].tests
    name = "test_softmax_of_something_new"
    source = tests[0].source.model_copy(update={"qualname": name, "body": "0" * 16})
    changes = {"id": f"{FILE}::{name}", "name": name, "base_name": name, "source": source}
    assert judged(baseline, (*tests, tests[0].model_copy(update=changes))).passed


def test_no_loss_is_allowed_wholesale() -> None:
    allowed = {item.kind for item in load_approvals(HELD / "approved.yaml").allow} - {"api-lost"}
    assert not [kind for kind in allowed if LOSSES & set(kind.split("-"))]
