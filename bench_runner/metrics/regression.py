# SPDX-License-Identifier: Apache-2.0
"""The newest latency of each candidate against its last good run.

It comes from the store and not from Prometheus' history, so that a regression shows after a
weekend without runs, and in a Prometheus that started a minute ago.
"""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric

from bench_runner.contract.status import Status
from bench_runner.judge.benchmark import geometric_mean
from bench_runner.store.view import JobView, identity

TOLERANCE = 1.1
"""A run is good when it takes at most this much of the time of the good run before it. Less would
mean nothing: judge.benchmark takes spreads of a tenth for noise."""


def against_last_good(history: list[float]) -> float:
    """The last of some latencies, oldest first, over the last good one before it.

    A slow run does not become the measure of the next one: it was not good. So a slow-down stays
    visible however often it is measured. 1 where there is one run only.
    """
    good = history[0]
    for latency in history[1:-1]:
        if latency <= TOLERANCE * good:
            good = latency
    return history[-1] / good


def last_good(jobs: Iterable[JobView]) -> Metric:
    """One series for each operator, backend, device and candidate with a benchmark that passed.

    Only the cases that a run shares with the newest one count, and only runs that have them all:
    a mean over other cases is another quantity.
    """
    family = GaugeMetricFamily(
        "bench_runner_candidate_latency_over_last_good_ratio",
        "Newest latency of a candidate over that of its last good run; above 1 is slower.",
        labels=["operator", "backend", "device", "candidate"],
    )
    runs: dict[tuple[str, str, str, str], list[tuple[str, dict[str, float]]]] = {}
    for view in jobs:
        verdict, job = view.verdict, view.job
        if verdict is None or not verdict.timings or verdict.status is not Status.PASSED:
            continue
        place = job.environment
        labels = (job.op, place.backend, place.device, identity(job.candidate))
        cases = {timing.case_id: timing.candidate_ms for timing in verdict.timings}
        runs.setdefault(labels, []).append((verdict.finished_at, cases))
    for who, measured in sorted(runs.items()):
        measured.sort(key=lambda run: run[0])
        wanted = measured[-1][1].keys()
        history = [
            geometric_mean([cases[case] for case in wanted])
            for _, cases in measured
            if wanted <= cases.keys()
        ]
        family.add_metric(who, against_last_good(history))
    return family
