# SPDX-License-Identifier: Apache-2.0
"""All runs of a store in memory, kept fresh by looking at what changed on disk.

For readers that live long (the results server, the exporter): a verdict never changes once it is
written, so a job that has one is read once.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from bench_runner.contract.job import Candidate, Job
from bench_runner.contract.record import ContractError
from bench_runner.contract.status import Mode
from bench_runner.contract.verdict import RunRecord, Verdict
from bench_runner.executors.run_lock import is_held
from bench_runner.store.runs import RunFolder, RunStore, open_folder

log = logging.getLogger("bench_runner.store")

Subject = tuple[str, str, str, Mode]
"""Operator, backend, identity of the candidate, mode: what a newer verdict supersedes."""


@dataclass(frozen=True)
class JobView:
    """A planned job and its verdict, if it has one."""

    run: str
    job: Job
    verdict: Verdict | None

    @property
    def subject(self) -> Subject:
        return (self.job.op, self.job.environment.backend, identity(self.job.candidate),
                self.job.mode)  # fmt: skip


@dataclass
class RunView:
    """A run as it was when it was last looked at."""

    record: RunRecord
    changed_ns: int
    """Of run.json: a resumed run is planned anew."""
    verdicts: dict[str, tuple[int, Verdict]] = field(default_factory=dict)
    """By job id, with the time of the file."""
    active: bool = False
    """Whether a living runner has it."""

    def jobs(self) -> list[JobView]:
        found = []
        for job in self.record.jobs:
            entry = self.verdicts.get(job.id)
            found.append(JobView(self.record.id, job, entry[1] if entry else None))
        return found


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

    def refresh(self) -> None:
        """Takes in what is new or changed, and forgets what is gone."""
        with self._lock:
            ids = set(self.store.ids())
            for gone in self._runs.keys() - ids:
                del self._runs[gone]
            self.unreadable = {}
            for run in ids:
                try:
                    self._look_at(run)
                except (ContractError, OSError) as error:
                    self.unreadable[run] = " ".join(str(error).split())
                    self._runs.pop(run, None)

    def runs(self) -> list[RunView]:
        """Newest first, as of the last refresh."""
        with self._lock:
            return [self._runs[run] for run in sorted(self._runs, reverse=True)]

    def jobs(self) -> Iterator[JobView]:
        """Every planned job of every run, newest run first."""
        for run in self.runs():
            yield from run.jobs()

    def newest(self) -> dict[Subject, JobView]:
        """The newest verdict of each candidate in each mode of each operator and backend."""
        found: dict[Subject, JobView] = {}
        for view in self.jobs():
            if view.verdict is None or not view.verdict.status.is_final:
                continue
            known = found.get(view.subject)
            if (
                known is None
                or known.verdict is None
                or (known.verdict.finished_at < view.verdict.finished_at)
            ):
                found[view.subject] = view
        return found

    def folder(self, run: str) -> Path:
        return self.store.root / run

    def _look_at(self, run: str) -> None:
        path = self.folder(run)
        changed = (path / "run.json").stat().st_mtime_ns
        known = self._runs.get(run)
        if known is None or known.changed_ns != changed:
            known = RunView(open_folder(path).record, changed)
            self._runs[run] = known
        # Before the verdicts: a run seen as dead has written its last one.
        was_active, known.active = known.active, is_held(path)
        complete = len(known.verdicts) == len(known.record.jobs)
        if complete and not (known.active or was_active):
            return
        folder = RunFolder(path, known.record)
        for job in known.record.jobs:
            file = folder.job_folder(job) / "verdict.json"
            try:
                written = file.stat().st_mtime_ns
            except FileNotFoundError:
                known.verdicts.pop(job.id, None)
                continue
            entry = known.verdicts.get(job.id)
            if entry is None or entry[0] != written:
                verdict = folder.verdict(job)
                if verdict is not None:
                    known.verdicts[job.id] = (written, verdict)
