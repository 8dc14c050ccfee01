# SPDX-License-Identifier: Apache-2.0
"""The one interface of executors."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from bench_runner.contract.job import Settings
from bench_runner.contract.outcome import Outcome
from bench_runner.devices import Device
from bench_runner.errors import InfrastructureFault


class ExecutorError(InfrastructureFault):
    """The executor cannot be used at all; one line with what to do about it."""


@dataclass(frozen=True)
class Launch:
    """All that an executor needs to know of a job."""

    name: str
    """Unique among living jobs; a valid container name."""
    run_folder: Path
    folder: Path
    """The job's own folder: ``in`` (read by the job), ``out`` (written by it), ``job.log``."""
    settings: Settings
    profiling: bool = False
    device: Device | None = None
    """The device that is the job's; None means the backend's first."""

    @property
    def inputs(self) -> Path:
        return self.folder / "in"

    @property
    def outputs(self) -> Path:
        return self.folder / "out"

    @property
    def log(self) -> Path:
        return self.folder / "job.log"


def launch_name(executor: str, run: str, job: str) -> str:
    """A launch's name; that of all jobs of a run begins alike."""
    return f"bench-{executor}-{run}-{job}"


class Handle(Protocol):
    """A job that was submitted."""

    def wait(self) -> Outcome:
        """Blocks until the job is over and nothing of it is left; call it once."""

    def kill(self) -> None:
        """Makes ``wait`` return soon, with CANCELLED. Safe from any thread."""


class Executor(Protocol):
    """A place to run jobs."""

    name: str

    def inputs_seen_at(self, launch: Launch) -> str:
        """The path under which the job's process sees ``launch.inputs``."""

    def clear(self, run_folder: Path) -> None:
        """Ends what a dead runner of this run left behind, and where it can be seen, of others."""

    def submit(self, launch: Launch) -> Handle:
        """Starts a job. What goes wrong from here on is an Outcome, not an exception."""
