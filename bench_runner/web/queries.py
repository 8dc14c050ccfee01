# SPDX-License-Identifier: Apache-2.0
"""Questions that the pages and the JSON API both ask of the store."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from bench_runner.contract.status import Mode, Status
from bench_runner.store.view import JobView, RunView, StoreView, Subject, identity


@dataclass(frozen=True)
class RunRow:
    """A run in a list."""

    id: str
    created_at: str
    backend: str
    executor: str
    operators: tuple[str, ...]
    jobs: int
    counts: dict[str, int]
    """Status to number of jobs; `not run` for those without a verdict."""
    active: bool


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


def row_of(run: RunView) -> RunRow:
    return run.kept.get("row", lambda: _row_of(run))


def _row_of(run: RunView) -> RunRow:
    jobs = run.jobs()
    words = Counter(map(_word, jobs))
    place = run.record.jobs[0].environment
    return RunRow(
        run.record.id,
        run.record.created_at,
        place.backend,
        place.executor,
        tuple(sorted({job.job.op for job in jobs})),
        len(jobs),
        dict(sorted(words.items())),
        run.active,
    )


def find_runs(
    view: StoreView, operator: str = "", backend: str = "", status: str = "", text: str = ""
) -> list[RunRow]:
    """Runs, newest first, with a job that fits every filter that is given.

    Args:
        text: part of the run's id, of a candidate's file or of a reason, in any case.
    """
    wanted = text.lower()
    found = []
    for run in view.runs():
        facts = run.kept.get("facts", lambda run=run: [_facts(j) for j in run.jobs()])  # type: ignore[misc]
        if any(
            (not operator or fact[0] == operator)
            and (not backend or fact[1] == backend)
            and (not status or fact[2] == status)
            and (not wanted or wanted in fact[3])
            for fact in facts
        ):
            found.append(row_of(run))
    return found


def leaderboard(view: StoreView, operator: str) -> list[Rank]:
    """Candidates of an operator: by backend and device, right ones first, fastest first."""
    return view.kept.get(("leaderboard", operator), lambda: _leaderboard(view, operator))


def _leaderboard(view: StoreView, operator: str) -> list[Rank]:
    groups: dict[tuple[str, str, str], list[JobView]] = {}
    for job in view.newest().values():
        if job.job.op == operator and job.job.candidate is not None:
            place = job.job.environment
            key = (place.backend, place.device, identity(job.job.candidate))
            groups.setdefault(key, []).append(job)
    ranks = [_rank(key, jobs) for key, jobs in groups.items()]
    return sorted(
        ranks,
        key=lambda r: (r.backend, r.device, not all(r.passed.values()), -(r.speedup or 0), r.file),
    )


def best(ranks: list[Rank]) -> Rank | None:
    """The fastest of those that are right and surely measured, whatever their device."""
    sure = [rank for rank in ranks if rank.speedup]
    return max(sure, key=lambda rank: rank.speedup or 0, default=None)


def operators(view: StoreView) -> list[str]:
    return view.kept.get(
        "operators", lambda: sorted({op for run in view.runs() for op in row_of(run).operators})
    )


def backends(view: StoreView) -> list[str]:
    return view.kept.get("backends", lambda: sorted({row_of(run).backend for run in view.runs()}))


def history(view: StoreView, operator: str, candidate: str) -> list[JobView]:
    """Every job of a candidate (its `identity`), newest run first."""
    found: list[JobView] = []
    for run in view.runs():
        index = run.kept.get("candidates", lambda run=run: _by_candidate(run))  # type: ignore[misc]
        found += index.get((operator, candidate), ())
    return found


def find_benchmark(view: StoreView, name: str) -> JobView:
    """The benchmark named ``RUN/JOB``.

    Raises:
        LookupError: there is none, or it is not a benchmark that has ended.
    """
    run_id, _, job_id = name.partition("/")
    run = view.run(run_id)
    found = next((job for job in run.jobs() if job.id == job_id), None) if run else None
    if found is None:
        raise LookupError(f"no job {name!r}; name it as RUN/JOB")
    if found.job.mode is not Mode.BENCHMARK or found.verdict is None:
        raise LookupError(f"{name} is not a benchmark that has ended")
    return found


def wrong_modes(newest: dict[Subject, JobView], job: JobView) -> list[str]:
    """Modes that the job's candidate newly did not pass on the job's backend."""
    operator, backend, candidate, _, device = job.subject
    found = []
    for mode in Mode:
        other = newest.get((operator, backend, candidate, mode, device))
        if other and other.verdict and other.verdict.status is not Status.PASSED:
            found.append(mode.value)
    return found


def _by_candidate(run: RunView) -> dict[tuple[str, str], list[JobView]]:
    found: dict[tuple[str, str], list[JobView]] = {}
    for job in run.jobs():
        found.setdefault((job.job.op, identity(job.job.candidate)), []).append(job)
    return found


def _rank(key: tuple[str, str, str], jobs: list[JobView]) -> Rank:
    backend, device, candidate = key
    by_mode = {job.job.mode: job for job in jobs}
    passed = {
        mode.value: by_mode[mode].verdict.status is Status.PASSED  # type: ignore[union-attr]
        for mode in Mode
        if mode in by_mode
    }
    benchmark = by_mode.get(Mode.BENCHMARK)
    best = benchmark or jobs[0]
    verdict = best.verdict
    right = all(passed.values())
    speedup = verdict.speedup if verdict and right and benchmark else None
    if not right:
        note = "wrong in " + ", ".join(mode for mode, good in passed.items() if not good)
    elif benchmark is None:
        note = "not measured"
    else:
        note = "" if speedup or verdict is None else next(iter(verdict.warnings), "")
    file = best.job.candidate.path.rsplit("/", 1)[-1] if best.job.candidate else ""
    return Rank(candidate, file, backend, device, best.run, best.id, passed, speedup, note)


def _word(job: JobView) -> str:
    return job.verdict.status.value if job.verdict else "not run"


def _facts(job: JobView) -> tuple[str, str, str, str]:
    """What the filters ask for: operator, backend, status, and text in lower case."""
    candidate = job.job.candidate
    parts = (
        job.run,
        candidate.path if candidate else "",
        job.verdict.reason if job.verdict else "",
    )
    return job.job.op, job.job.environment.backend, _word(job), "\n".join(parts).lower()
