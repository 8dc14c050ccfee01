# SPDX-License-Identifier: Apache-2.0
"""From a run's folder to what the index keeps of it.

Every record is parsed and checked as a whole, though the index keeps an outline: a run with a
damaged record is told of when it is met, and not when somebody opens it.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench_runner.contract.job import Candidate, Job
from bench_runner.contract.record import ContractError, parse
from bench_runner.contract.verdict import RunRecord, Verdict
from bench_runner.executors.run_lock import is_held
from bench_runner.judge.benchmark import geometric_mean


@dataclass
class Problem:
    """Why a run is left out."""

    why: str
    culprit: str
    """The file to blame, below the run's folder."""
    culprit_ns: int


@dataclass
class RunReading:
    """What a look at a run's folder found."""

    run: str
    plan_ns: int
    active: bool = False
    record: RunRecord | None = None
    """None where the plan is known already."""
    ids: tuple[str, ...] = ()
    """The jobs' ids, of a plan that was read; a job hashes itself anew each time it is asked."""
    verdicts: dict[int, tuple[int, Verdict]] = field(default_factory=dict)
    """By position in the plan: when it was written, and it."""
    problem: Problem | None = None


def identity(candidate: Candidate | None) -> str:
    """A candidate's content and function in 12 hexadecimal digits and a name."""
    return f"{candidate.sha256[:12]}:{candidate.function}" if candidate else "baseline"


def read_run(folder: Path) -> RunReading:
    """Plan and verdicts.

    Raises:
        FileNotFoundError: it is no run.
    """
    found = RunReading(folder.name, _written(folder / "run.json"))
    # Before the verdicts: a run seen as dead has written its last one.
    found.active = is_held(folder)
    file = folder / "run.json"
    try:
        found.record = parse(RunRecord, file.read_bytes(), str(file))
        if found.record.id != folder.name:
            raise ContractError(f"{file}: is the plan of {found.record.id}")
    except FileNotFoundError:
        raise
    except (ContractError, OSError) as error:
        found.problem = Problem(_one_line(error), "run.json", found.plan_ns)
        return found
    found.ids = tuple(job.id for job in found.record.jobs)
    read_verdicts(folder, found, list(enumerate(found.ids)))
    return found


def read_verdicts(folder: Path, found: RunReading, planned: Iterable[tuple[int, str]]) -> None:
    """Adds to `found` the verdicts that there are of some jobs (position and id)."""
    for position, job in planned:
        name = f"jobs/{job}/verdict.json"
        file = f"{folder}/{name}"
        try:
            written = _written(file)
        except (FileNotFoundError, NotADirectoryError):
            continue
        try:
            with open(file, "rb") as stream:
                verdict = parse(Verdict, stream.read(), file)
            # A job's id ends with the beginning of its key.
            if not job.endswith(f"-{verdict.key[:12]}"):
                raise ContractError(f"{file}: belongs to another job")
        except FileNotFoundError:
            continue
        except (ContractError, OSError) as error:
            found.problem = Problem(_one_line(error), name, written)
            return
        found.verdicts[position] = (written, verdict)


def subject_of(job: Job) -> tuple[str, str, str, str]:
    """Operator, backend, device and candidate."""
    place = job.environment
    return job.op, place.backend, place.device, identity(job.candidate)


def verdict_columns(written: int, verdict: Verdict) -> dict[str, Any]:
    """The outline of a verdict."""
    counts, timings = verdict.counts, verdict.timings
    columns: dict[str, Any] = {
        "written": written,
        "status": verdict.status.value,
        "reason": verdict.reason,
        "warning": next(iter(verdict.warnings), ""),
        "finished_at": verdict.finished_at,
        "attempts": verdict.attempts,
        "expected": counts.expected if counts else None,
        "passed": counts.passed if counts else None,
        "seconds": verdict.phases.total_s,
        "speedup": verdict.speedup,
        "cases": len(timings),
    }
    if timings:
        names = "\n".join(sorted(timing.case_id for timing in timings))
        columns |= {
            "case_set": hashlib.sha256(names.encode()).hexdigest()[:16],
            "candidate_ms": geometric_mean([timing.candidate_ms for timing in timings]),
            "baseline_ms": geometric_mean([timing.baseline_ms for timing in timings]),
            "worst": min(timing.speedup for timing in timings),
        }
    return columns


def size_of(folder: Path) -> int:
    """Bytes that a folder takes on the disk, as far as it can be read."""
    total = 0
    waiting = [os.fspath(folder)]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    try:
                        total += entry.stat(follow_symlinks=False).st_blocks * 512
                    except OSError:
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except OSError:
            continue
    return total


def _written(file: str | Path) -> int:
    return os.stat(file).st_mtime_ns


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
