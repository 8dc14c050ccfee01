# SPDX-License-Identifier: Apache-2.0
"""Medians with an interval, and whether two samples differ; nothing is assumed of a distribution.

Latencies are skewed and have several humps, so a t-test's p would mean nothing. The two methods
here only ask which value is larger: the interval of a median from order statistics (David and
Nagaraja, Order Statistics, 7.1), and the rank-sum test (Mann and Whitney, 1947; exact also with
ties, by counting all ways to deal the ranks). scipy has both, with a hundred megabytes around them.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

CONFIDENCE = 0.95
ALPHA = 1 - CONFIDENCE
"""Of ten thousand comparisons of a kernel with itself, at most five hundred may claim a change."""
LARGEST_EXACT = 24
"""Values in both samples together up to which all ways are counted: some milliseconds. From here
on the normal approximation is off by less than a hundredth of p."""


@dataclass(frozen=True)
class Estimate:
    """A median, and between which values the true one lies with 95% confidence."""

    median: float
    low: float | None
    high: float | None
    """None where there are too few values for any interval (fewer than six)."""
    n: int


def estimate(values: Sequence[float]) -> Estimate:
    """Of at least one value.

    The interval is the narrowest pair of order statistics, one as far from the middle as the other,
    whose coverage is at least 95%.
    """
    ordered, n = sorted(values), len(values)
    low = high = None
    # P(true median < k-th smallest) = P(Binomial(n, 1/2) < k)
    tail, outside = 0.0, 0
    for k in range(n // 2):
        tail += math.comb(n, k) / 2**n
        if 2 * tail > ALPHA:
            break
        outside = k + 1
    if outside:
        low, high = ordered[outside - 1], ordered[n - outside]
    return Estimate(statistics.median(ordered), low, high, n)


def rank_sum_p(a: Sequence[float], b: Sequence[float]) -> float:
    """Two-sided p of the hypothesis that a value of `a` is as likely above one of `b` as below."""
    if not a or not b:
        return 1.0
    ranks, ties = _doubled_ranks([*a, *b])
    total = sum(ranks[: len(a)])
    if len(ranks) <= LARGEST_EXACT:
        return _exact(ranks, len(a), total)
    return _normal(len(a), len(b), total / 2, ties)


def holm(values: Sequence[float]) -> list[float]:
    """p values adjusted for being several (Holm, 1979): the chance that any of them is a false
    alarm stays what it is for one."""
    order = sorted(range(len(values)), key=lambda index: values[index])
    adjusted, largest = [0.0] * len(values), 0.0
    for place, index in enumerate(order):
        largest = max(largest, min(1.0, (len(values) - place) * values[index]))
        adjusted[index] = largest
    return adjusted


def _doubled_ranks(values: list[float]) -> tuple[list[int], list[int]]:
    """Twice each value's rank, so that ranks shared by ties stay integers; sizes of the ties."""
    first: dict[float, int] = {}
    counts = Counter(values)
    position = 1
    for value in sorted(counts):
        first[value] = position
        position += counts[value]
    ranks = [2 * first[value] + counts[value] - 1 for value in values]
    return ranks, list(counts.values())


def _exact(ranks: list[int], taken: int, total: int) -> float:
    """The share of all ways to take so many ranks that are at least as far from the mean."""
    ways: list[Counter[int]] = [Counter() for _ in range(taken + 1)]
    ways[0][0] = 1
    for rank in ranks:
        for many in range(taken, 0, -1):
            for before, number in ways[many - 1].items():
                ways[many][before + rank] += number
    # Everything times the number of ranks, to stay with integers.
    mean, size = taken * sum(ranks), len(ranks)
    far = abs(total * size - mean)
    extreme = sum(n for found, n in ways[taken].items() if abs(found * size - mean) >= far)
    return extreme / math.comb(size, taken)


def _normal(n: int, m: int, rank_sum: float, ties: list[int]) -> float:
    """With corrections for ties and for continuity."""
    both = n + m
    mean = n * (both + 1) / 2
    tied = sum(t**3 - t for t in ties) / (both * (both - 1))
    variance = n * m / 12 * (both + 1 - tied)
    if variance <= 0:
        return 1.0
    z = max(0.0, abs(rank_sum - mean) - 0.5) / math.sqrt(variance)
    return math.erfc(z / math.sqrt(2))
