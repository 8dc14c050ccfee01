# SPDX-License-Identifier: Apache-2.0
"""What the judge concluded, and on what grounds."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, model_validator

from bench_runner.contract.job import Job, Sha256
from bench_runner.contract.record import Record
from bench_runner.contract.status import Mode, Status


class Check(Record):
    """One thing the judge looked at."""

    name: str
    ok: bool
    detail: str = ""


class Phases(Record):
    """Where a job's seconds went. Sums to the wall time but for rounding."""

    queue_s: NonNegativeFloat = 0.0
    """From the plan to the executor."""
    start_s: NonNegativeFloat = 0.0
    """Creating and starting the container (or process) until our first line ran in it."""
    import_s: NonNegativeFloat = 0.0
    """Importing torch, triton, flag_gems and pytest."""
    pytest_s: NonNegativeFloat = 0.0
    """The pytest session: collection, inputs, the candidate, reports."""
    counters_s: NonNegativeFloat = 0.0
    """The session once more under a profiler of hardware counters, in profile mode."""
    collect_s: NonNegativeFloat = 0.0
    """From the end of the session: exit, container removed, artifacts read back."""
    judge_s: NonNegativeFloat = 0.0
    """Holding what came back against the mode's contract."""

    @property
    def overhead_s(self) -> float:
        """What the appliance itself adds to a job."""
        return self.start_s + self.collect_s + self.judge_s

    @property
    def total_s(self) -> float:
        return self.import_s + self.pytest_s + self.counters_s + self.overhead_s


class CaseTiming(Record):
    """One benchmark case. The speed-up is ours, computed from the two latencies."""

    case_id: str
    dtype: str
    shape: str
    params: str = ""
    """What else tells the case from others of its shape; empty where nothing does."""
    baseline_ms: PositiveFloat
    candidate_ms: PositiveFloat
    baseline_spread: NonNegativeFloat | None = None
    """Interquartile range over median of the baseline's samples."""
    candidate_spread: NonNegativeFloat | None = None
    samples: NonNegativeInt | None = None
    baseline_blocks_ms: tuple[PositiveFloat, ...] = ()
    """Medians of the blocks of samples between which the two sides took turns; these are what a
    comparison counts. Empty in records from before they were kept."""
    candidate_blocks_ms: tuple[PositiveFloat, ...] = ()

    @property
    def speedup(self) -> float:
        return self.baseline_ms / self.candidate_ms


class Counts(Record):
    """How many cases ended how."""

    expected: NonNegativeInt
    passed: NonNegativeInt = 0
    failed: NonNegativeInt = 0
    skipped: NonNegativeInt = 0


class Verdict(Record):
    """The end of a job; a job is done when this is on disk, valid and with the job's key."""

    schema_version: Literal["bench-runner.verdict/v1"] = "bench-runner.verdict/v1"
    key: Sha256
    job: Job
    status: Status
    reason: str = ""
    """One sentence that a person can act on; empty only for PASSED."""
    checks: tuple[Check, ...] = ()
    counts: Counts | None = None
    timings: tuple[CaseTiming, ...] = ()
    speedup: PositiveFloat | None = None
    """Geometric mean over all expected cases; absent when one is missing or too noisy."""
    warnings: tuple[str, ...] = ()
    phases: Phases = Phases()
    attempts: NonNegativeInt = 1
    exit_code: int | None = None
    foreign_cores: NonNegativeFloat | None = None
    """Cores that other processes of the machine kept busy while the job ran, on average."""
    privileges: tuple[str, ...] = ()
    """What the container was granted beyond the locked-down default."""
    artifacts: tuple[str, ...] = ()
    log: str | None = None
    """Name of the file with what the job printed, beside this one."""
    finished_at: str
    """UTC, ISO 8601."""

    @model_validator(mode="after")
    def _status_and_fields_agree(self) -> Verdict:
        if self.key != self.job.key:
            raise ValueError("key is not the job's key")
        if (self.status is Status.PASSED) == bool(self.reason):
            raise ValueError("a reason is given for every status but PASSED")
        if self.status is Status.PASSED:
            failed = [check.name for check in self.checks if not check.ok]
            if failed or not self.checks:
                raise ValueError(f"PASSED needs checks, all of them ok (not ok: {failed})")
        if self.timings and self.job.mode is not Mode.BENCHMARK:
            raise ValueError("only a benchmark has timings")
        if self.speedup is not None and self.status is not Status.PASSED:
            raise ValueError("only a benchmark that passed has a speed-up")
        return self


class RunRecord(Record):
    """One command: what was planned and where."""

    schema_version: Literal["bench-runner.run/v1"] = "bench-runner.run/v1"
    id: str
    created_at: str
    command: tuple[str, ...]
    """The command line that makes this run again."""
    executor_note: str = ""
    """Why the executor is not the one that was asked for or preferred; empty when it is."""
    gate: bool = True
    """Whether a candidate whose preflight did not pass is left out of the other modes."""
    jobs: tuple[Job, ...] = Field(min_length=1)
