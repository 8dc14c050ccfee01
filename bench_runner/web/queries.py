# SPDX-License-Identifier: Apache-2.0
"""Questions that the pages and the JSON API both ask of the store."""

from __future__ import annotations

from dataclasses import dataclass

from bench_runner.contract.status import Mode, Status
from bench_runner.store.view import JobRow, JobView, StoreView, identity


@dataclass(frozen=True)
class Rank:
    """A candidate in an operator's leaderboard."""

    candidate: str
    file: str
    backend: str
    device: str
    run: str
    job: str
    passed: dict[str, bool]
    """Mode to whether its newest verdict is PASSED."""
    speedup: float | None
    """Of the newest benchmark; None where a mode did not pass or nothing certain was measured."""
    note: str
    """Why there is no speed-up."""

    @property
    def measured(self) -> bool:
        """Whether `job` is a benchmark."""
        return Mode.BENCHMARK.value in self.passed


def leaderboard(view: StoreView, operator: str) -> list[Rank]:
    """Candidates of an operator: by backend and device, right ones first, fastest first."""
    return _leaderboard(view.newest(operator))


def leaderboards(view: StoreView) -> dict[str, list[Rank]]:
    """Of every operator, by name."""
    of_operator: dict[str, list[JobRow]] = {name: [] for name in view.operators()}
    for job in view.newest():
        of_operator.setdefault(job.operator, []).append(job)
    return {name: _leaderboard(jobs) for name, jobs in of_operator.items()}


def _leaderboard(newest: list[JobRow]) -> list[Rank]:
    groups: dict[tuple[str, str, str], list[JobRow]] = {}
    for job in newest:
        if job.path:
            groups.setdefault((job.backend, job.device, job.candidate), []).append(job)
    ranks = [_rank(key, jobs) for key, jobs in groups.items()]
    return sorted(
        ranks,
        key=lambda r: (r.backend, r.device, not all(r.passed.values()), -(r.speedup or 0), r.file),
    )


def best(ranks: list[Rank]) -> Rank | None:
    """The fastest of those that are right and surely measured, whatever their device."""
    sure = [rank for rank in ranks if rank.speedup]
    return max(sure, key=lambda rank: rank.speedup or 0, default=None)


def find_benchmark(view: StoreView, name: str) -> JobView:
    """The benchmark named ``RUN/JOB``.

    Raises:
        LookupError: there is none, or it is not a benchmark that has ended.
    """
    run_id, _, job_id = name.partition("/")
    found = view.load(run_id, job_id)
    if found is None:
        raise LookupError(f"no job {name!r}; name it as RUN/JOB")
    if found.job.mode is not Mode.BENCHMARK or found.verdict is None:
        raise LookupError(f"{name} is not a benchmark that has ended")
    return found


def wrong_modes(newest: list[JobRow], job: JobView) -> list[str]:
    """Modes that the job's candidate newly did not pass on the job's device."""
    place = job.job.environment
    who = (place.backend, place.device, identity(job.job.candidate))
    return [
        row.mode.value
        for row in newest
        if (row.backend, row.device, row.candidate) == who and row.status is not Status.PASSED
    ]


def _rank(key: tuple[str, str, str], jobs: list[JobRow]) -> Rank:
    backend, device, candidate = key
    by_mode = {job.mode: job for job in jobs}
    passed = {mode.value: by_mode[mode].status is Status.PASSED for mode in Mode if mode in by_mode}
    benchmark = by_mode.get(Mode.BENCHMARK)
    best = benchmark or jobs[0]
    right = all(passed.values())
    speedup = benchmark.speedup if right and benchmark else None
    if not right:
        note = "wrong in " + ", ".join(mode for mode, good in passed.items() if not good)
    elif benchmark is None:
        note = "not measured"
    else:
        note = "" if speedup else benchmark.warning
    return Rank(candidate, best.file, backend, device, best.run, best.id, passed, speedup, note)
