# SPDX-License-Identifier: Apache-2.0
"""Which job runs next, and on how many threads.

Two rules decide. A candidate that did not pass preflight is not run in its other modes (the
gate). A mode that measures owns the machine: nothing else of the run is under way meanwhile.
"""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from bench_runner.contract.job import Job
from bench_runner.contract.status import Mode, Status
from bench_runner.contract.verdict import Verdict


class Runner(Protocol):
    """What the scheduler needs of a ``JobRunner``."""

    def run(self, job: Job, queued_at: float) -> Verdict | None: ...

    def refuse(self, job: Job, reason: str) -> Verdict: ...

    def cancel(self) -> None: ...


class Listener(Protocol):
    """Who is told about the progress; calls come from several threads, one at a time."""

    def started(self, job: Job) -> None: ...

    def ended(self, job: Job, verdict: Verdict | None) -> None: ...


class Scheduler:
    """Runs the jobs that have no final verdict yet.

    Args:
        jobs: all jobs of the run, in the order of the plan.
        done: final verdicts of an earlier attempt at the run, by job key.
        width: how many jobs may run at once.
        gate: whether preflight gates the other modes.
    """

    def __init__(
        self,
        jobs: tuple[Job, ...],
        done: dict[str, Verdict],
        runner: Runner,
        listener: Listener,
        width: int,
        gate: bool,
    ) -> None:
        self._runner = runner
        self._listener = listener
        self._width = width
        self._gate = gate
        self._pending = [job for job in jobs if job.key not in done]
        self._preflights = {
            _who(job): done.get(job.key) for job in jobs if job.mode is Mode.PREFLIGHT
        }
        self._running: list[Job] = []
        self._changed = threading.Condition()
        self._cancelled = False
        self._failure: BaseException | None = None

    def run(self) -> None:
        """Blocks until every job has its verdict or the run is cancelled.

        Raises:
            BaseException: what a runner raised; that is a fault of ours, not of a candidate.
        """
        queued_at = time.time()
        with ThreadPoolExecutor(self._width, thread_name_prefix="job") as pool:
            workers = [pool.submit(self._work, queued_at) for _ in range(self._width)]
            for worker in workers:
                worker.result()
        if self._failure is not None:
            raise self._failure

    def cancel(self) -> None:
        """Ends the run soon: running jobs are killed, waiting ones keep no verdict."""
        with self._changed:
            self._cancelled = True
            self._changed.notify_all()
        self._runner.cancel()

    def _work(self, queued_at: float) -> None:
        while (job := self._next()) is not None:
            verdict = None
            try:
                verdict = self._one(job, queued_at)
            except BaseException as error:
                self._failure = self._failure or error
                self.cancel()
            finally:
                with self._changed:
                    self._running.remove(job)
                    if job.mode is Mode.PREFLIGHT:
                        self._preflights[_who(job)] = verdict
                    self._listener.ended(job, verdict)
                    self._changed.notify_all()

    def _one(self, job: Job, queued_at: float) -> Verdict | None:
        preflight = self._preflights.get(_who(job)) if self._is_gated(job) else None
        if preflight is not None and not preflight.status.is_good:
            return self._runner.refuse(job, f"not run: preflight {preflight.status.value}")
        with self._changed:
            self._listener.started(job)
        return self._runner.run(job, queued_at)

    def _next(self) -> Job | None:
        """Takes the next job that may start; waits for one; None when there is nothing left."""
        with self._changed:
            while True:
                if self._cancelled or not self._pending:
                    return None
                for job in self._pending:
                    if self._may_start(job):
                        self._pending.remove(job)
                        self._running.append(job)
                        return job
                self._changed.wait()

    def _may_start(self, job: Job) -> bool:
        if any(running.mode.owns_the_machine for running in self._running):
            return False
        if job.mode.owns_the_machine and self._running:
            return False
        who = _who(job)
        return (
            not self._is_gated(job)
            or who not in self._preflights
            or self._preflights[who] is not None
        )

    def _is_gated(self, job: Job) -> bool:
        return self._gate and job.mode.needs_candidate and job.mode is not Mode.PREFLIGHT


def _who(job: Job) -> tuple[str, str]:
    """The candidate that a preflight speaks for: content, function and place."""
    candidate = job.candidate
    return (
        job.op,
        f"{candidate.sha256}:{candidate.function}:{job.override}" if candidate else "",
    )


def summary(verdicts: list[Verdict | None]) -> dict[Status, int]:
    """How many jobs ended how, in the order of the statuses; jobs without a verdict left out."""
    present = [verdict.status for verdict in verdicts if verdict]
    return {status: present.count(status) for status in Status if status in present}
