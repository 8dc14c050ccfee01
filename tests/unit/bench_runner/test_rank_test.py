# SPDX-License-Identifier: Apache-2.0
"""The statistics of comparisons against definitions that are slower and plainer."""

from __future__ import annotations

import math
import random
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench_runner.judge import rank_test
from bench_runner.judge.rank_test import estimate, holm, rank_sum_p

FEW = st.lists(st.sampled_from([1.0, 1.5, 2.0, 3.0, 5.0, 8.0]), min_size=1, max_size=5)


def by_all_ways(a: list[float], b: list[float]) -> float:
    """U counted pair by pair, for every way to deal the values to the two sides."""
    values = [*a, *b]

    def distance(chosen: tuple[int, ...]) -> float:
        ours = [values[i] for i in chosen]
        theirs = [values[i] for i in range(len(values)) if i not in chosen]
        u = sum((x > y) + (x == y) / 2 for x in ours for y in theirs)
        return abs(u - len(a) * len(b) / 2)

    ways = list(combinations(range(len(values)), len(a)))
    far = distance(tuple(range(len(a))))
    return sum(distance(way) >= far for way in ways) / len(ways)


@settings(max_examples=60, deadline=None)
@given(a=FEW, b=FEW)
def test_p_is_the_share_of_all_ways(a: list[float], b: list[float]) -> None:
    # Both count the same ways: only the division rounds.
    assert rank_sum_p(a, b) == pytest.approx(by_all_ways(a, b), rel=1e-12)
    assert rank_sum_p(a, b) == pytest.approx(rank_sum_p(b, a), rel=1e-12)


def test_p_of_published_samples() -> None:
    # Ten blocks a side without overlap: 2 of C(20, 10) ways.
    assert rank_sum_p(range(10), range(10, 20)) == pytest.approx(2 / 184756)
    assert rank_sum_p([], [1.0]) == 1.0
    assert rank_sum_p([1.0] * 30, [1.0] * 30) == 1.0


def test_the_approximation_meets_the_exact_value(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(3)
    for _ in range(20):
        a = [round(chance.gauss(0, 1), 1) for _ in range(12)]
        b = [round(chance.gauss(0.5, 1), 1) for _ in range(12)]
        monkeypatch.setattr(rank_test, "LARGEST_EXACT", 24)
        exact = rank_sum_p(a, b)
        monkeypatch.setattr(rank_test, "LARGEST_EXACT", 0)
        assert rank_sum_p(a, b) == pytest.approx(exact, abs=0.01)


@pytest.mark.parametrize(
    ("n", "place"), [(5, None), (6, 1), (8, 1), (9, 2), (10, 2), (20, 6), (100, 40)]
)
def test_the_interval_is_that_of_the_tables(n: int, place: int | None) -> None:
    """Order statistics for a median at 95%, counted from both ends (Conover, table A3)."""
    found = estimate(list(range(1, n + 1)))
    expected = (None, None) if place is None else (place, n + 1 - place)
    assert (found.low, found.high) == expected
    assert found.n == n


@pytest.mark.parametrize("n", [6, 10, 25])
def test_the_interval_holds_the_median_as_often_as_it_says(n: int) -> None:
    chance = random.Random(n)
    tries = 2000
    held = 0
    for _ in range(tries):
        found = estimate([chance.expovariate(1) for _ in range(n)])
        assert found.low is not None
        assert found.high is not None
        held += found.low <= math.log(2) <= found.high
    # Three standard deviations of a binomial count below 95%.
    assert held / tries >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / tries)


def test_holm() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.9, 0.9]) == [1.0, 1.0]
    assert holm([]) == []
