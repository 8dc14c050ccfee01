# SPDX-License-Identifier: Apache-2.0
"""All runs of a store in memory, kept fresh by looking at what changed on disk.

For readers that live long (the results server, the exporter): a verdict never changes once it is
written, so a job that has one is read once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

from bench_runner.contract.job import Candidate, Job
from bench_runner.contract.record import ContractError
from bench_runner.contract.status import Mode
from bench_runner.contract.verdict import RunRecord, Verdict
from bench_runner.executors.run_lock import is_held
from bench_runner.store.runs import RunFolder, RunStore, open_folder

T = TypeVar("T")
Subject = tuple[str, str, str, Mode, str]
"""Operator, backend, identity of the candidate, mode, device: what a newer verdict supersedes."""


@dataclass(frozen=True)
class JobView:
    """A planned job and its verdict, if it has one."""

    run: str
    id: str
    """The job's id; a job hashes itself anew each time it is asked."""
    job: Job
    verdict: Verdict | None

    @property
    def subject(self) -> Subject:
        place, who = self.job.environment, identity(self.job.candidate)
        return (self.job.op, place.backend, who, self.job.mode, place.device)


class Kept:
    """Answers that hold until what they were made from changes, when their keeper drops this."""

    def __init__(self) -> None:
        self._answers: dict[Hashable, Any] = {}

    def get(self, question: Hashable, answer: Callable[[], T]) -> T:
        """Asks once. Of two threads that ask at the same time the later one's answer stays."""
        if question not in self._answers:
            self._answers[question] = answer()
        return cast(T, self._answers[question])


class RunView:
    """A run as it was when it was last looked at."""

    def __init__(self, record: RunRecord, changed_ns: int) -> None:
        self.record = record
        self.changed_ns = changed_ns
        """Of run.json: a resumed run is planned anew."""
        self.active = False
        """Whether a living runner has it."""
        self.written: dict[str, int] = {}
        """Job id to the time of its verdict's file."""
        self._jobs = tuple(JobView(record.id, job.id, job, None) for job in record.jobs)
        self.kept = Kept()

    def jobs(self) -> tuple[JobView, ...]:
        """In the order of the plan; the same object until one of them changes."""
        return self._jobs

    def replace(self, changed: dict[str, Verdict | None]) -> None:
        """Takes in verdicts by job id."""
        self._jobs = tuple(
            JobView(view.run, view.id, view.job, changed[view.id]) if view.id in changed else view
            for view in self._jobs
        )
        self.kept = Kept()


def identity(candidate: Candidate | None) -> str:
    """A candidate's content and function in 12 hexadecimal digits and a name."""
    return f"{candidate.sha256[:12]}:{candidate.function}" if candidate else "baseline"


class StoreView:
    """The runs below one folder. Safe from several threads."""

    def __init__(self, root: Path) -> None:
        self.store = RunStore(root)
        self._runs: dict[str, RunView] = {}
        self._lock = threading.Lock()
        self.unreadable: dict[str, str] = {}
        """Run id to the one line that says why it is left out."""
        self.kept = Kept()

    def refresh(self) -> None:
        """Takes in what is new or changed, and forgets what is gone."""
        with self._lock:
            ids = set(self.store.ids())
            gone = self._runs.keys() - ids
            for run in gone:
                del self._runs[run]
            unreadable: dict[str, str] = {}
            changed = bool(gone)
            for run in ids:
                try:
                    changed |= self._look_at(run)
                except (ContractError, OSError) as error:
                    unreadable[run] = " ".join(str(error).split())
                    changed |= self._runs.pop(run, None) is not None
            self.unreadable = unreadable
            if changed:
                self.kept = Kept()

    def runs(self) -> list[RunView]:
        """Newest first, as of the last refresh."""
        with self._lock:
            return [self._runs[run] for run in sorted(self._runs, reverse=True)]

    def run(self, run: str) -> RunView | None:
        with self._lock:
            return self._runs.get(run)

    def jobs(self) -> Iterator[JobView]:
        """Every planned job of every run, newest run first."""
        for run in self.runs():
            yield from run.jobs()

    def newest(self) -> dict[Subject, JobView]:
        """The newest verdict of each candidate in each mode of each operator and backend."""
        return self.kept.get("newest", self._find_newest)

    def _find_newest(self) -> dict[Subject, JobView]:
        found: dict[Subject, JobView] = {}
        for run in self.runs():
            of_run = run.kept.get("newest", lambda run=run: _newest(run.jobs()))  # type: ignore[misc]
            for subject, view in of_run.items():
                known = found.setdefault(subject, view)
                if _finished_at(known) < _finished_at(view):
                    found[subject] = view
        return found

    def folder(self, run: str) -> Path:
        return self.store.root / run

    def _look_at(self, run: str) -> bool:
        """Whether anything of the run changed."""
        path = self.folder(run)
        changed_ns = (path / "run.json").stat().st_mtime_ns
        known = self._runs.get(run)
        fresh = known is None or known.changed_ns != changed_ns
        if known is None or fresh:
            known = RunView(open_folder(path).record, changed_ns)
            self._runs[run] = known
        elif len(known.written) == len(known.record.jobs) and not known.active:
            # Done: a verdict never changes. Whoever resumes the run writes its plan first.
            return False
        # Before the verdicts: a run seen as dead has written its last one.
        was_active, known.active = known.active, is_held(path)
        if was_active != known.active:
            known.kept = Kept()
        changed = self._read_verdicts(path, known)
        return fresh or changed or was_active != known.active

    def _read_verdicts(self, path: Path, known: RunView) -> bool:
        folder = RunFolder(path, known.record)
        found: dict[str, Verdict | None] = {}
        for view in known.jobs():
            try:
                written = (path / "jobs" / view.id / "verdict.json").stat().st_mtime_ns
            except FileNotFoundError:
                if known.written.pop(view.id, None) is not None:
                    found[view.id] = None
                continue
            if known.written.get(view.id) != written:
                verdict = folder.verdict(view.job)
                if verdict is not None:
                    # It belongs to this very job: one copy of that is enough for both.
                    found[view.id] = verdict.model_copy(update={"job": view.job})
                    known.written[view.id] = written
        if found:
            known.replace(found)
        return bool(found)


def _newest(jobs: Iterable[JobView]) -> dict[Subject, JobView]:
    """Of one run, where no two jobs have a subject in common but for their settings."""
    found: dict[Subject, JobView] = {}
    for view in jobs:
        if view.verdict is None or not view.verdict.status.is_final:
            continue
        known = found.setdefault(view.subject, view)
        if _finished_at(known) < _finished_at(view):
            found[view.subject] = view
    return found


def _finished_at(view: JobView) -> str:
    return view.verdict.finished_at if view.verdict else ""
