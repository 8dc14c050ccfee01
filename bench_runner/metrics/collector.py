# SPDX-License-Identifier: Apache-2.0
"""What the store holds and what is running, as metric families.

Every label is bounded by what is being worked on, not by how often: operators, backends, modes,
statuses, and candidates that have a newest verdict. No run, commit or container is a label.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from importlib import metadata

from prometheus_client.core import GaugeMetricFamily, HistogramMetricFamily, InfoMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from bench_runner.contract.status import Status
from bench_runner.devices.slots import busy
from bench_runner.metrics.regression import best_against_last_good, last_good
from bench_runner.store.totals import BUCKETS_S, Totals
from bench_runner.store.view import JobRow, StoreView


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

    def collect(self) -> Iterator[Metric]:
        self._view.refresh()
        with self._view.snapshot():
            yield from self._families()

    def _families(self) -> Iterator[Metric]:
        view = self._view
        newest = view.newest()
        benchmarks = view.keep("benchmarks", view.benchmarks)
        totals = view.totals()
        yield _build()
        yield _jobs(totals)
        yield _recent(view)
        yield from _activity(view)
        yield _phases(totals)
        yield from _times(view)
        yield from _candidates(newest)
        yield last_good(benchmarks)
        yield from best_against_last_good(benchmarks, newest)
        if self._cases:
            yield from _case_latencies(view, newest)
        yield from _store(view)


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


def _recent(view: StoreView) -> Metric:
    """A count over a window and not a difference of counts, so that deleting old runs, a restart or
    a new Prometheus change nothing about it."""
    family = GaugeMetricFamily(
        "bench_runner_jobs_ended_last_hour",
        "Jobs that ended within the last hour, by how.",
        labels=["status", "backend"],
    )
    since = (datetime.now(timezone.utc) - timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    counts = view.ended_since(since)
    for backend in view.backends():
        for status in Status:
            family.add_metric([status.value, backend], counts[backend, status.value])
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
    for backend, counter in sorted(view.activity().items()):
        waiting.add_metric([backend], counter["waiting"])
        abandoned.add_metric([backend], counter["abandoned"])
        active.add_metric([backend], counter["active"])
    yield waiting
    yield abandoned
    yield active
    owned = GaugeMetricFamily(
        "bench_runner_devices_busy", "Devices that a living job owns.", labels=["vendor"]
    )
    for vendor, number in busy().items():
        owned.add_metric([vendor], number)
    yield owned


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


def _times(view: StoreView) -> Iterator[Metric]:
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
    for (backend, good), when in sorted(view.last_ends().items()):
        moment = datetime.fromisoformat(when.replace("Z", "+00:00")).timestamp()
        (passed if good else ended).add_metric([backend], moment)
    yield ended
    yield passed


def _labels(job: JobRow) -> list[str]:
    return [job.operator, job.backend, job.device, job.candidate]


def _candidates(newest: list[JobRow]) -> Iterator[Metric]:
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
    for job in newest:
        assert job.status is not None
        labels, right = _labels(job), job.status is Status.PASSED
        state.add_metric([*labels, job.mode.value], float(right))
        if job.path:
            files[job.operator, job.candidate] = job.file
        if job.cases and right:
            assert job.candidate_ms is not None
            assert job.baseline_ms is not None
            assert job.worst is not None
            own.add_metric(labels, job.candidate_ms / 1e3)
            baseline.add_metric(labels, job.baseline_ms / 1e3)
            worst.add_metric(labels, job.worst)
        if job.speedup is not None:
            speedup.add_metric(labels, job.speedup)
    for (operator, candidate), file in sorted(files.items()):
        information.add_metric([operator, candidate], {"file": file})
    yield from (state, speedup, own, baseline, worst, information)


def _case_latencies(view: StoreView, newest: list[JobRow]) -> Iterator[Metric]:
    family = GaugeMetricFamily(
        "bench_runner_case_latency_seconds",
        "Time of a call in one benchmark case.",
        labels=["operator", "backend", "device", "candidate", "dtype", "shape", "params", "side"],
    )
    for row in newest:
        job = view.load(row.run, row.id) if row.cases else None
        if job is None or job.verdict is None:
            continue
        for timing in job.verdict.timings:
            case = [*_labels(row), timing.dtype, timing.shape, timing.params]
            family.add_metric([*case, "candidate"], timing.candidate_ms / 1e3)
            family.add_metric([*case, "baseline"], timing.baseline_ms / 1e3)
    yield family


def _store(view: StoreView) -> Iterator[Metric]:
    runs = GaugeMetricFamily("bench_runner_runs", "Runs in the store.")
    runs.add_metric([], view.count_runs())
    damaged = GaugeMetricFamily("bench_runner_unreadable_runs", "Runs whose records are damaged.")
    damaged.add_metric([], len(view.unreadable))
    yield runs
    yield damaged
    size = view.size()
    if size is not None:
        held = GaugeMetricFamily(
            "bench_runner_store_size_bytes", "What the runs take on the disk; running ones as "
            "they were when a job of theirs last ended.",
        )  # fmt: skip
        held.add_metric([], size)
        yield held
    if view.store.root.is_dir():
        disk = shutil.disk_usage(view.store.root)
        free = GaugeMetricFamily(
            "bench_runner_filesystem_free_bytes", "Free space of the file system of the runs."
        )
        free.add_metric([], disk.free)
        total = GaugeMetricFamily(
            "bench_runner_filesystem_size_bytes", "Size of the file system of the runs."
        )
        total.add_metric([], disk.total)
        yield free
        yield total
