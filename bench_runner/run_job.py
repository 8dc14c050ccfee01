# SPDX-License-Identifier: Apache-2.0
"""One job from its plan to its verdict: inputs, process, artifacts, judgement."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from bench_runner.catalogue import Catalogue
from bench_runner.contract.job import Job
from bench_runner.contract.status import Mode, Status
from bench_runner.contract.verdict import Verdict
from bench_runner.executors.inputs import CandidateChanged, make_launch, place, write_inputs
from bench_runner.expectations import Expectations, ListingFailed
from bench_runner.judge.correctness import claims_skips
from bench_runner.judge.evidence import Evidence
from bench_runner.judge.verdict import judge, without_a_process
from bench_runner.launching import Launcher
from bench_runner.store.artifacts import collect
from bench_runner.store.runs import RunFolder

ATTEMPTS = 2
"""How often a job is tried while the infrastructure is at fault."""
LOG_TAIL_BYTES = 64 << 10


class JobRunner:
    """Runs jobs of one run; may be called from several threads, and cancelled from any."""

    def __init__(
        self, run: RunFolder, launcher: Launcher, catalogue: Catalogue, expectations: Expectations
    ) -> None:
        self._run = run
        self._launcher = launcher
        self._catalogue = catalogue
        self._expectations = expectations

    def cancel(self) -> None:
        """Kills what is running; every ``run`` that is under way then returns None."""
        self._launcher.cancel()

    def run(self, job: Job, queued_at: float) -> Verdict | None:
        """The verdict, which is on disk when this returns; None when the run was cancelled."""
        verdict = None
        for attempt in range(1, ATTEMPTS + 1):
            if self._launcher.cancelled:
                return None
            verdict = self._attempt(job, queued_at, attempt)
            if verdict.status is not Status.INFRA_ERROR:
                break
        if self._launcher.cancelled or verdict is None:
            return None
        self._run.write_verdict(verdict)
        return verdict

    def refuse(self, job: Job, reason: str) -> Verdict:
        """Records that a job is not run at all."""
        verdict = without_a_process(job, Status.CANCELLED, reason)
        self._run.write_verdict(verdict)
        return verdict

    def _attempt(self, job: Job, queued_at: float, attempt: int) -> Verdict:
        operator = self._catalogue[job.op]
        try:
            expectation = self._expectations.of(operator, job.settings)
        except ListingFailed as error:
            return without_a_process(job, Status.INFRA_ERROR, str(error))
        wanted = job.settings.profile_case
        if job.mode is Mode.PROFILE and wanted and wanted not in expectation.cases.case_ids:
            return without_a_process(
                job,
                Status.CANCELLED,
                f"no case {wanted!r} to profile; see: bench-runner cases --op {job.op}",
            )
        launch = make_launch(
            self._launcher.executor,
            job.id,
            self._run.path,
            self._run.job_folder(job),
            job.settings,
            profiling=job.mode is Mode.PROFILE,
        )
        case = wanted or expectation.cases.case_ids[0]
        try:
            files = write_inputs(
                job, operator, case, self._launcher.executor.inputs_seen_at(launch)
            )
        except CandidateChanged as error:
            return without_a_process(job, Status.INFRA_ERROR, str(error))
        place(files, launch.inputs)
        outcome = self._launcher.run(launch)
        queue_s = max(0.0, outcome.submitted_at - queued_at)
        collected = collect(launch.outputs, launch.folder / "artifacts")
        evidence = Evidence(job, outcome, collected, expectation, tail(launch.log))
        if job.mode is Mode.CORRECTNESS and claims_skips(evidence):
            try:
                skips = self._expectations.skips(operator, job.settings)
            except ListingFailed as error:
                return without_a_process(job, Status.INFRA_ERROR, str(error))
            evidence = replace(evidence, baseline_skips=skips)
        return judge(evidence, queue_s, attempt)


def tail(path: Path) -> str:
    """The end of a log, as text; empty where nothing was printed."""
    try:
        with path.open("rb") as file:
            file.seek(0, 2)
            file.seek(max(0, file.tell() - LOG_TAIL_BYTES))
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""
