# SPDX-License-Identifier: Apache-2.0
"""Two benchmarks against each other: what is decided, what is not, and what is refused."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

from bench_runner.contract.status import Mode, Status
from bench_runner.contract.verdict import CaseTiming, Check, Verdict
from bench_runner.judge.comparison import compare
from tests.unit.bench_runner.records import make_job


def benchmark(
    times: dict[str, float],
    noise: float | None = 0.01,
    sha256: str = "a" * 64,
    seed: int = 0,
    baseline_ms: float = 1.0,
    **place: Any,
) -> Verdict:
    """Ten blocks a case, of that relative standard deviation; without any where it is None."""
    job = make_job(Mode.BENCHMARK, sha256=sha256)
    job = job.model_copy(update={"environment": job.environment.model_copy(update=place)})
    chance = random.Random(f"{sha256}{seed}")
    timings = tuple(
        CaseTiming(
            case_id=case,
            dtype="torch.float32",
            shape="[4]",
            baseline_ms=baseline_ms,
            candidate_ms=ms,
            candidate_blocks_ms=()
            if noise is None
            else tuple(ms * chance.gauss(1, noise) for _ in range(10)),
        )
        for case, ms in times.items()
    )
    return Verdict(
        key=job.key,
        job=job,
        status=Status.PASSED,
        checks=(Check(name="cases", ok=True),),
        timings=timings,
        finished_at=f"2026-01-02T03:04:{seed:02}Z",
    )


def test_the_overall_ratio_is_the_geometric_mean_of_the_cases_that_both_have() -> None:
    found = compare(
        benchmark({"x": 4.0, "y": 1.0, "mine": 9.0}), benchmark({"x": 1.0, "y": 2.0, "z": 9.0})
    )
    # Each median of ten blocks of 1% is off by less than 2%.
    assert found.ratio == pytest.approx(math.sqrt(4.0 * 0.5), rel=0.04)
    assert [case.timing.case_id for case in found.cases] == ["y", "x"]
    assert [timing.case_id for timing in found.only_a] == ["mine"]
    assert [timing.case_id for timing in found.only_b] == ["z"]
    assert found.total == 4


@pytest.mark.parametrize(
    ("a", "b", "noise", "faster"),
    [
        (1.0, 1.2, 0.01, "A"),
        (1.2, 1.0, 0.01, "B"),
        (1.0, 1.001, 0.05, "~"),
        (1.0, 9.0, None, "~"),
    ],
)
def test_a_case_is_decided_where_the_test_is_sure(
    a: float, b: float, noise: float | None, faster: str
) -> None:
    found = compare(benchmark({"x": a}, noise), benchmark({"x": b}, noise, sha256="c" * 64))
    assert [case.faster for case in found.cases] == [faster]
    assert found.wins(faster) == 1
    if noise is None:
        assert found.cases[0].p is None
        assert "recorded no blocks" in found.warnings[0]


def test_a_kernel_is_hardly_ever_found_to_differ_from_itself() -> None:
    """Over twenty cases together, as it is for one."""
    cases = dict.fromkeys(map(str, range(20)), 1.0)
    alarms = sum(
        compare(benchmark(cases, seed=2 * n), benchmark(cases, seed=2 * n + 1)).wins("~") < 20
        for n in range(29)
    )
    # Of 29 comparisons at 5%, more than 5 alarms come by chance once in a hundred times.
    assert alarms <= 5


def test_with_enough_runs_the_runs_are_counted() -> None:
    """Blocks of one run agree with each other; five runs do not."""
    a = [benchmark({"x": ms}, 0.001, seed=n) for n, ms in enumerate([1, 1.3, 0.9, 1.2, 1.1])]
    b = [
        benchmark({"x": ms}, 0.001, sha256="c" * 64, seed=n)
        for n, ms in enumerate([1.1, 0.95, 1.25, 1.05, 1.15])
    ]
    one = compare(a[0], b[0])
    assert (one.unit, one.cases[0].faster, one.cases[0].a.n) == ("blocks", "A", 10)
    assert "from run to run" in one.warnings[0]
    many = compare(a[0], b[0], a, b)
    assert (many.unit, many.cases[0].faster, many.cases[0].a.n) == ("runs", "~", 5)
    assert many.cases[0].a.median == 1.1
    assert many.warnings == ()
    # A run elsewhere, or without a case, does not count.
    elsewhere = benchmark({"x": 1.0}, device="another CPU", seed=9)
    assert compare(a[0], b[0], [*a[:4], elsewhere], b).unit == "blocks"
    assert compare(a[0], b[0], [*a[:4], benchmark({"y": 1.0}, seed=9)], b).unit == "blocks"


def test_a_baseline_that_moved_is_told() -> None:
    found = compare(benchmark({"x": 1.0}), benchmark({"x": 1.0}, baseline_ms=1.5, seed=1))
    assert "1.50 times as long" in " ".join(found.warnings)


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
