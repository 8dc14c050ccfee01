# SPDX-License-Identifier: Apache-2.0
"""Two benchmarks against each other: what is decided, what is not, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import pytest

from bench_runner.contract.status import Mode, Status
from bench_runner.contract.verdict import CaseTiming, Check, Verdict
from bench_runner.judge.comparison import compare
from tests.unit.bench_runner.records import make_job


def benchmark(
    times: dict[str, float], spread: float | None = 0.1, sha256: str = "a" * 64, **place: Any
) -> Verdict:
    job = make_job(Mode.BENCHMARK, sha256=sha256)
    job = job.model_copy(update={"environment": job.environment.model_copy(update=place)})
    timings = tuple(
        CaseTiming(
            case_id=case, dtype="torch.float32", shape="[4]", baseline_ms=1.0, candidate_ms=ms,
            candidate_spread=spread,
        )
        for case, ms in times.items()
    )  # fmt: skip
    return Verdict(
        key=job.key, job=job, status=Status.PASSED, checks=(Check(name="cases", ok=True),),
        timings=timings, finished_at="2026-01-02T03:04:05Z",
    )  # fmt: skip


def test_the_overall_ratio_is_the_geometric_mean_of_the_cases_that_both_have() -> None:
    found = compare(
        benchmark({"x": 4.0, "y": 1.0, "mine": 9.0}), benchmark({"x": 1.0, "y": 2.0, "z": 9.0})
    )
    assert found.ratio == pytest.approx(math.sqrt(4.0 * 0.5))
    assert [case.a.case_id for case in found.cases] == ["y", "x"]
    assert [timing.case_id for timing in found.only_a] == ["mine"]
    assert [timing.case_id for timing in found.only_b] == ["z"]
    assert found.total == 4


@pytest.mark.parametrize(
    ("a", "b", "spread", "faster"),
    [
        # A spread of 0.1 reaches 5% to either side.
        (1.0, 1.2, 0.1, "A"),
        (1.2, 1.0, 0.1, "B"),
        (1.0, 1.09, 0.1, "~"),
        (1.0, 1.2, 0.5, "~"),
        (1.0, 9.0, None, "~"),
    ],
)
def test_a_case_is_decided_where_the_middle_halves_lie_apart(
    a: float, b: float, spread: float | None, faster: str
) -> None:
    found = compare(benchmark({"x": a}, spread), benchmark({"x": b}, spread))
    assert [case.faster for case in found.cases] == [faster]
    assert found.wins(faster) == 1


def test_no_overall_ratio_across_places() -> None:
    found = compare(
        benchmark({"x": 1.0}, versions={"torch": "2.12"}),
        benchmark({"x": 1.0}, device="another CPU", versions={"torch": "2.13"}),
    )
    assert found.differences == ("device: a CPU and another CPU", "torch: 2.12 and 2.13")
    assert found.ratio is None
    assert len(found.cases) == 1


def test_suites_are_told_apart_by_twelve_digits() -> None:
    found = compare(benchmark({"x": 1.0}), benchmark({"x": 1.0}, suite="c" * 64))
    assert found.differences == ("suite: bbbbbbbbbbbb and cccccccccccc",)


def test_what_cannot_be_compared_is_refused() -> None:
    good = benchmark({"x": 1.0})
    other = good.job.model_copy(update={"op": "add", "override": "add"})
    with pytest.raises(ValueError, match="two operators"):
        compare(good, good.model_copy(update={"job": other}))
    job = make_job(Mode.PREFLIGHT)
    with pytest.raises(ValueError, match="only benchmarks"):
        compare(good, good.model_copy(update={"job": job}))


def test_nothing_in_common_gives_no_ratio() -> None:
    assert compare(benchmark({"x": 1.0}), benchmark({"y": 1.0})).ratio is None
