# SPDX-License-Identifier: Apache-2.0
"""What the store holds and what is running, as metric families.

Every label is bounded by what is being worked on, not by how often: operators, backends, modes,
statuses, and candidates that have a newest verdict. No run, commit or container is a label.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from importlib import metadata

from prometheus_client.core import GaugeMetricFamily, HistogramMetricFamily, InfoMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from bench_runner.contract.job import Job
from bench_runner.contract.status import Mode, Status
from bench_runner.contract.verdict import Verdict
from bench_runner.judge.benchmark import geometric_mean
from bench_runner.metrics.regression import last_good
from bench_runner.metrics.totals import BUCKETS_S, RunningTotals, Totals
from bench_runner.store.view import JobView, StoreView, identity


class StoreCollector(Collector):
    """A prometheus_client collector of one store.

    Args:
        view: the store; refreshed at each scrape.
        cases: also a series for every benchmark case of every candidate. Off unless asked for,
            since an operator can have hundreds of cases.
    """

    def __init__(self, view: StoreView, cases: bool = False) -> None:
        self._view = view
        self._cases = cases
        self._totals = RunningTotals()

    def collect(self) -> Iterator[Metric]:
        self._view.refresh()
        jobs = list(self._view.jobs())
        newest = list(self._view.newest().values())
        yield _build()
        totals = self._totals.of(self._view.runs())
        yield _jobs(totals)
        yield from _activity(self._view)
        yield _phases(totals)
        yield from _times(jobs)
        yield from _candidates(newest)
        yield last_good(jobs)
        if self._cases:
            yield from _case_latencies(newest)
        yield from _store(self._view)


def _build() -> Metric:
    family = InfoMetricFamily("bench_runner_build", "The version of the exporter.")
    family.add_metric([], {"version": _version()})
    return family


def _version() -> str:
    try:
        return metadata.version("flag-gems")
    except metadata.PackageNotFoundError:
        return "source"


def _jobs(totals: Totals) -> Metric:
    family = GaugeMetricFamily(
        "bench_runner_jobs",
        "Jobs in the store that have a verdict, by how they ended.",
        labels=["status", "backend", "operator", "mode"],
    )
    for labels, number in sorted(totals.ended.items()):
        if number:
            family.add_metric(labels, number)
    return family


def _activity(view: StoreView) -> Iterator[Metric]:
    """What living runners have before them. A run whose runner died waits for --resume."""
    waiting = GaugeMetricFamily(
        "bench_runner_queue_jobs", "Jobs of living runs without a verdict.", labels=["backend"]
    )
    abandoned = GaugeMetricFamily(
        "bench_runner_abandoned_jobs",
        "Jobs without a verdict whose runner is gone.",
        labels=["backend"],
    )
    active = GaugeMetricFamily(
        "bench_runner_active_runs", "Runs that have a living runner.", labels=["backend"]
    )
    numbers: dict[str, Counter[str]] = {}
    for run in view.runs():
        backend = run.record.jobs[0].environment.backend
        open_jobs = sum(job.verdict is None for job in run.jobs())
        counter = numbers.setdefault(backend, Counter())
        counter["active"] += run.active
        counter["waiting" if run.active else "abandoned"] += open_jobs
    for backend, counter in sorted(numbers.items()):
        waiting.add_metric([backend], counter["waiting"])
        abandoned.add_metric([backend], counter["abandoned"])
        active.add_metric([backend], counter["active"])
    yield waiting
    yield abandoned
    yield active


def _phases(totals: Totals) -> Metric:
    family = HistogramMetricFamily(
        "bench_runner_job_phase_seconds",
        "Where the time of jobs in the store went.",
        labels=["backend", "mode", "phase"],
    )
    edges = [*map(str, BUCKETS_S), "+Inf"]
    for labels, (counts, seconds) in totals.phases().items():
        family.add_metric(labels, list(zip(edges, counts, strict=True)), sum_value=seconds)
    return family


def _times(jobs: list[JobView]) -> Iterator[Metric]:
    """When something last ended, and when it last ended well."""
    ended = GaugeMetricFamily(
        "bench_runner_last_verdict_timestamp_seconds",
        "When the newest verdict was written.",
        labels=["backend"],
    )
    passed = GaugeMetricFamily(
        "bench_runner_last_success_timestamp_seconds",
        "When a job last ended as PASSED.",
        labels=["backend"],
    )
    newest: dict[tuple[str, bool], str] = {}
    for view in jobs:
        if view.verdict is None:
            continue
        when, backend = view.verdict.finished_at, view.job.environment.backend
        kinds = (False, True) if view.verdict.status is Status.PASSED else (False,)
        for good in kinds:
            # Texts of one format in UTC: their order is that of the times.
            newest[backend, good] = max(when, newest.get((backend, good), ""))
    for (backend, good), when in sorted(newest.items()):
        moment = datetime.fromisoformat(when.replace("Z", "+00:00")).timestamp()
        (passed if good else ended).add_metric([backend], moment)
    yield ended
    yield passed


def _labels(job: Job) -> list[str]:
    return [job.op, job.environment.backend, job.environment.device, identity(job.candidate)]


def _candidates(newest: list[JobView]) -> Iterator[Metric]:
    names = ["operator", "backend", "device", "candidate"]
    state = GaugeMetricFamily(
        "bench_runner_candidate_passed",
        "1 where the newest verdict of a candidate in a mode is PASSED, else 0.",
        labels=[*names, "mode"],
    )
    speedup = GaugeMetricFamily(
        "bench_runner_candidate_speedup_ratio",
        "Baseline's time over candidate's, geometric mean over all cases; above 1 is faster.",
        labels=names,
    )
    own = GaugeMetricFamily(
        "bench_runner_candidate_latency_seconds",
        "Time of a call of the candidate, geometric mean over the benchmark's cases.",
        labels=names,
    )
    baseline = GaugeMetricFamily(
        "bench_runner_baseline_latency_seconds",
        "Time of a call of the baseline beside the candidate, geometric mean over the cases.",
        labels=names,
    )
    worst = GaugeMetricFamily(
        "bench_runner_candidate_worst_case_speedup_ratio",
        "The speed-up of the case that gains least.",
        labels=names,
    )
    information = InfoMetricFamily(
        "bench_runner_candidate",
        "The file that a candidate's short hash stands for.",
        labels=["operator", "candidate"],
    )
    files: dict[tuple[str, str], str] = {}
    for view in newest:
        job, verdict = view.job, view.verdict
        assert verdict is not None
        labels = _labels(job)
        state.add_metric([*labels, job.mode.value], float(verdict.status is Status.PASSED))
        if job.candidate:
            files[job.op, identity(job.candidate)] = job.candidate.path.rsplit("/", 1)[-1]
        if verdict.timings and verdict.status is Status.PASSED:
            own.add_metric(labels, _mean_ms(verdict, "candidate_ms") / 1e3)
            baseline.add_metric(labels, _mean_ms(verdict, "baseline_ms") / 1e3)
            worst.add_metric(labels, min(timing.speedup for timing in verdict.timings))
        if verdict.speedup is not None:
            speedup.add_metric(labels, verdict.speedup)
    for (operator, candidate), file in sorted(files.items()):
        information.add_metric([operator, candidate], {"file": file})
    yield from (state, speedup, own, baseline, worst, information)


def _mean_ms(verdict: Verdict, field: str) -> float:
    return geometric_mean([getattr(timing, field) for timing in verdict.timings])


def _case_latencies(newest: list[JobView]) -> Iterator[Metric]:
    family = GaugeMetricFamily(
        "bench_runner_case_latency_seconds",
        "Time of a call in one benchmark case.",
        labels=["operator", "backend", "device", "candidate", "dtype", "shape", "params", "side"],
    )
    for view in newest:
        if view.job.mode is not Mode.BENCHMARK or view.verdict is None:
            continue
        for timing in view.verdict.timings:
            case = [*_labels(view.job), timing.dtype, timing.shape, timing.params]
            family.add_metric([*case, "candidate"], timing.candidate_ms / 1e3)
            family.add_metric([*case, "baseline"], timing.baseline_ms / 1e3)
    yield family


def _store(view: StoreView) -> Iterator[Metric]:
    runs = GaugeMetricFamily("bench_runner_runs", "Runs in the store.")
    runs.add_metric([], len(view.runs()))
    damaged = GaugeMetricFamily("bench_runner_unreadable_runs", "Runs whose records are damaged.")
    damaged.add_metric([], len(view.unreadable))
    yield runs
    yield damaged
    if view.store.root.is_dir():
        disk = shutil.disk_usage(view.store.root)
        free = GaugeMetricFamily("bench_runner_store_free_bytes", "Free space where the runs are.")
        free.add_metric([], disk.free)
        total = GaugeMetricFamily("bench_runner_store_size_bytes", "Size of that file system.")
        total.add_metric([], disk.total)
        yield free
        yield total
