# SPDX-License-Identifier: Apache-2.0
"""The folder of one run, and finding runs.

::

    runs/<run id>/run.json                  what was planned
                  lock                      held by the living runner
                  baseline/<what>/          jobs without a candidate: lists, skips
                  jobs/<job id>/in/         what the job read
                                job.log     what it printed
                                artifacts/  what it left
                                verdict.json  written last: with it the job is done
"""

from __future__ import annotations

import secrets
import time
from pathlib import Path

from bench_runner.contract.job import Job
from bench_runner.contract.record import ContractError, parse, write_record
from bench_runner.contract.verdict import RunRecord, Verdict
from bench_runner.errors import UsageFault
from bench_runner.store import format as store_format


class RunNotFound(UsageFault, LookupError):
    """No run of that name."""


class RunStore:
    """All runs below one folder.

    Raises:
        StoreTooNew: a newer program wrote it.
    """

    def __init__(self, root: Path) -> None:
        self.root = root.absolute()
        store_format.check(self.root)

    def new_id(self) -> str:
        """Sorts by time of planning; the tail keeps two runs of one second apart."""
        return time.strftime("%Y%m%d-%H%M%S", time.gmtime()) + "-" + secrets.token_hex(2)

    def create(self, record: RunRecord) -> RunFolder:
        path = self.root / record.id
        path.mkdir(parents=True)
        store_format.mark(self.root)
        write_record(path / "run.json", record)
        return RunFolder(path, record)

    def ids(self) -> list[str]:
        """Run ids, newest first."""
        found = (path.parent.name for path in self.root.glob("*/run.json"))
        return sorted(found, reverse=True)

    def open(self, name: str) -> RunFolder:
        """Opens a run by its id, a unique beginning of it, its path, or ``latest``.

        Raises:
            RunNotFound: none, or more than one, fits.
            ContractError: its record cannot be read.
        """
        ids = self.ids()
        if name == "latest":
            matches = ids[:1]
        elif (Path(name) / "run.json").is_file():
            return open_folder(Path(name).absolute())
        elif name in ids:
            matches = [name]
        else:
            matches = [run for run in ids if run.startswith(name)] if name else []
        if not matches:
            raise RunNotFound(f"no run {name!r} in {self.root}; see: bench-runner list")
        if len(matches) > 1:
            raise RunNotFound(f"{name!r} fits {len(matches)} runs: {', '.join(matches)}")
        return open_folder(self.root / matches[0])


def open_folder(path: Path) -> RunFolder:
    """Opens the run in a folder."""
    file = path / "run.json"
    return RunFolder(path, parse(RunRecord, file.read_bytes(), str(file)))


class RunFolder:
    """One run on disk."""

    def __init__(self, path: Path, record: RunRecord) -> None:
        self.path = path
        self.record = record

    def replace_jobs(self, jobs: tuple[Job, ...]) -> None:
        """Plans the run anew; verdicts of jobs that stay the same stay with them."""
        self.record = self.record.model_copy(update={"jobs": jobs})
        write_record(self.path / "run.json", self.record)

    def job_folder(self, job: Job) -> Path:
        return self.path / "jobs" / job.id

    def verdict(self, job: Job) -> Verdict | None:
        """The verdict of a job; None while it has none.

        Raises:
            ContractError: the file is damaged or belongs to another job.
        """
        file = self.job_folder(job) / "verdict.json"
        try:
            text = file.read_bytes()
        except FileNotFoundError:
            return None
        verdict = parse(Verdict, text, str(file))
        if verdict.key != job.key:
            raise ContractError(f"{file}: belongs to another job")
        return verdict

    def verdicts(self) -> list[tuple[Job, Verdict | None]]:
        """Every planned job with its verdict, in the order of the plan."""
        return [(job, self.verdict(job)) for job in self.record.jobs]

    def write_verdict(self, verdict: Verdict) -> None:
        folder = self.job_folder(verdict.job)
        folder.mkdir(parents=True, exist_ok=True)
        write_record(folder / "verdict.json", verdict)
