# SPDX-License-Identifier: Apache-2.0
"""What is newest against what was last good, of candidates and of operators.

It comes from the store and not from Prometheus' history, so that a regression shows after a
weekend without runs, and in a Prometheus that started a minute ago.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric

from bench_runner.contract.status import Mode, Status
from bench_runner.store.view import Benchmarked, JobRow

TOLERANCE = 1.1
"""A run is good when it takes at most this much of the time of the good run before it. Less would
mean nothing: judge.benchmark takes spreads of a tenth for noise."""
Place = tuple[str, str, str]
"""Operator, backend, device."""


def good_before(history: list[float]) -> float | None:
    """Of some latencies, oldest first, the last good one before the last; None where that is alone.

    A slow run does not become the measure of the next one: it was not good. So a slow-down stays
    visible however often it is measured.
    """
    if len(history) < 2:
        return None
    good = history[0]
    for latency in history[1:-1]:
        if latency <= TOLERANCE * good:
            good = latency
    return good


def against_last_good(history: list[float]) -> float:
    """The last of some latencies, oldest first, over the last good one; 1 where there is none."""
    return history[-1] / (good_before(history) or history[-1])


def last_good(benchmarks: Iterable[Benchmarked]) -> Metric:
    """One series for each operator, backend, device and candidate with a benchmark that passed.

    Runs that timed other cases than the newest one do not count: a mean over other cases is another
    quantity.
    """
    family = GaugeMetricFamily(
        "bench_runner_candidate_latency_over_last_good_ratio",
        "Newest latency of a candidate over that of its last good run; above 1 is slower.",
        labels=["operator", "backend", "device", "candidate"],
    )
    for who, history in groupby(benchmarks, key=lambda one: one[:4]):
        runs = list(history)
        times = [run.candidate_ms for run in runs if run.case_set == runs[-1].case_set]
        family.add_metric(who, against_last_good(times))
    return family


def best_against_last_good(
    benchmarks: Iterable[Benchmarked], newest: Iterable[JobRow]
) -> Iterator[Metric]:
    """The best of an operator's candidates now, over the best that one was when it was good.

    A candidate counts now while its newest verdict in every mode is PASSED: so it falls not only
    when the best candidate becomes slower, but also when it turns out wrong.
    """
    family = GaugeMetricFamily(
        "bench_runner_operator_speedup_over_last_good_ratio",
        "Best speed-up of an operator's candidates over their best at their last good runs; "
        "below 1 is worse.",
        labels=["operator", "backend", "device"],
    )
    wrong = {
        (row.operator, row.backend, row.device, row.candidate)
        for row in newest
        if row.status is not Status.PASSED and row.mode is not Mode.REFERENCE
    }
    now: dict[Place, float] = {}
    before: dict[Place, float] = {}
    for who, history in groupby(benchmarks, key=lambda one: one[:4]):
        runs = list(history)
        sure = [r.speedup for r in runs if r.speedup and r.case_set == runs[-1].case_set]
        if not sure:
            continue
        place = who[:3]
        # A speed-up is the inverse of a time: the same rule tells which was the last good one.
        good = good_before([1 / speedup for speedup in sure])
        before[place] = max(before.get(place, 0.0), 1 / good if good else sure[-1])
        if who not in wrong:
            now[place] = max(now.get(place, 0.0), sure[-1])
    for place, best in sorted(before.items()):
        family.add_metric(place, now.get(place, 0.0) / best)
    yield family
