# SPDX-License-Identifier: Apache-2.0
"""The scheduler: gate, exclusive modes, resuming, cancelling, faults of our own."""

from __future__ import annotations

import threading
import time

import pytest

from bench_runner.contract.job import Job
from bench_runner.contract.status import Mode, Status
from bench_runner.contract.verdict import Check, Verdict
from bench_runner.judge.verdict import now, without_a_process
from bench_runner.scheduler import Scheduler
from tests.unit.bench_runner.records import make_job

MODES = (Mode.PREFLIGHT, Mode.CORRECTNESS, Mode.BENCHMARK, Mode.PROFILE)


def passed(job: Job) -> Verdict:
    return Verdict(
        key=job.key,
        job=job,
        status=Status.PASSED,
        checks=(Check(name="looked", ok=True),),
        finished_at=now(),
    )


class Recorder:
    """Stands where a JobRunner would, and notes what overlapped."""

    def __init__(self, verdicts: dict[str, Status] | None = None, seconds: float = 0.01) -> None:
        self.bad = verdicts or {}
        self.seconds = seconds
        self.order: list[str] = []
        self.refused: dict[str, str] = {}
        self.widest = 0
        self.running: list[Job] = []
        self.lock = threading.Lock()
        self.cancelled = threading.Event()

    def run(self, job: Job, queued_at: float) -> Verdict | None:
        with self.lock:
            self.running.append(job)
            self.order.append(job.id)
            self.widest = max(self.widest, len(self.running))
            if len(self.running) > 1:
                assert not any(other.mode.owns_the_machine for other in self.running)
        self.cancelled.wait(self.seconds)
        with self.lock:
            self.running.remove(job)
        if self.cancelled.is_set():
            return None
        status = self.bad.get(job.id)
        return without_a_process(job, status, "because") if status else passed(job)

    def refuse(self, job: Job, reason: str) -> Verdict:
        self.refused[job.id] = reason
        return without_a_process(job, Status.CANCELLED, reason)

    def cancel(self) -> None:
        self.cancelled.set()

    def started(self, job: Job) -> None: ...

    def ended(self, job: Job, verdict: Verdict | None) -> None: ...


def candidates(number: int) -> list[list[Job]]:
    return [[make_job(mode, f"/c/{i}.py", f"{i:064d}") for mode in MODES] for i in range(number)]


def schedule(
    jobs: list[Job],
    recorder: Recorder,
    width: int = 4,
    gate: bool = True,
    done: dict[str, Verdict] | None = None,
) -> Scheduler:
    return Scheduler(tuple(jobs), done or {}, recorder, recorder, width, gate)


def test_everything_runs_once_and_measuring_runs_alone() -> None:
    jobs = [job for candidate in candidates(4) for job in candidate]
    recorder = Recorder(seconds=0.05)
    schedule(jobs, recorder).run()
    assert sorted(recorder.order) == sorted(job.id for job in jobs)
    assert recorder.widest > 1


def test_a_failed_preflight_gates_the_other_modes() -> None:
    (jobs,) = candidates(1)
    recorder = Recorder({jobs[0].id: Status.FAILED})
    schedule(jobs, recorder).run()
    assert recorder.order == [jobs[0].id]
    assert recorder.refused == {job.id: "not run: preflight FAILED" for job in jobs[1:]}


def test_without_the_gate_all_modes_run() -> None:
    (jobs,) = candidates(1)
    recorder = Recorder({jobs[0].id: Status.FAILED})
    schedule(jobs, recorder, gate=False).run()
    assert sorted(recorder.order) == sorted(job.id for job in jobs)


def test_a_finished_preflight_of_an_earlier_attempt_gates_too() -> None:
    (jobs,) = candidates(1)
    done = {jobs[0].key: without_a_process(jobs[0], Status.TIMEOUT, "slow")}
    recorder = Recorder()
    schedule(jobs, recorder, done=done).run()
    assert recorder.order == []
    assert len(recorder.refused) == 3


def test_what_is_done_is_not_run_again() -> None:
    (jobs,) = candidates(1)
    done = {job.key: passed(job) for job in jobs[:2]}
    recorder = Recorder()
    schedule(jobs, recorder, done=done).run()
    assert sorted(recorder.order) == sorted(job.id for job in jobs[2:])


def test_cancelling_ends_running_jobs_and_starts_no_other() -> None:
    (jobs,) = candidates(1)
    recorder = Recorder(seconds=60)
    scheduler = schedule(jobs, recorder)
    thread = threading.Thread(target=scheduler.run)
    thread.start()
    while not recorder.order:
        time.sleep(0.01)
    scheduler.cancel()
    thread.join(10)
    assert not thread.is_alive()
    assert recorder.order == [jobs[0].id]
    assert recorder.refused == {}


def test_a_fault_of_the_runner_ends_the_run_and_is_raised() -> None:
    (jobs,) = candidates(1)

    class Faulty(Recorder):
        def run(self, job: Job, queued_at: float) -> Verdict | None:
            raise ZeroDivisionError("ours")

    with pytest.raises(ZeroDivisionError):
        schedule(jobs, Faulty()).run()
