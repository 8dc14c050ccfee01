# SPDX-License-Identifier: Apache-2.0
"""Laying out what a job reads: its specification, its candidate and the override of it."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

from bench_runner.backends import load_backends
from bench_runner.catalogue import Operator
from bench_runner.contract.job import Job, Settings
from bench_runner.contract.status import Mode
from bench_runner.executors.interface import Executor, Launch, launch_name
from bench_runner.executors.profilers import counters

InputFiles = dict[str, bytes]
"""File name, relative to the input folder, to content."""


class CandidateChanged(RuntimeError):
    """The file is no longer the one that was planned."""


def prepare(launch: Launch) -> None:
    """Makes a job's folder anew: nothing of an earlier attempt remains."""
    if launch.folder.exists():
        shutil.rmtree(launch.folder)
    launch.inputs.mkdir(parents=True)
    launch.outputs.mkdir()


def write_inputs(
    job: Job, operator: Operator, profile_case: str | None, seen_at: str
) -> InputFiles:
    """Everything a job reads, by file name.

    Args:
        operator: the catalogue's entry of the job's operator.
        profile_case: the case that profile mode replays.
        seen_at: where the job sees its input folder.

    Raises:
        CandidateChanged: the candidate is not what it was when the run was planned.
    """
    settings = job.settings
    spec: dict[str, Any] = {
        "mode": job.mode.value,
        **_suite_part(operator, settings),
        "warmup_ms": settings.warmup_ms,
        "iter_ms": settings.iter_ms,
        "profile_warmup": settings.profile_warmup,
        "profile_iterations": settings.profile_iterations,
        "case_id": profile_case,
    }
    if job.mode is Mode.PROFILE:
        spec["counters"] = counters(load_backends()[job.environment.backend])
    files: InputFiles = {}
    if job.candidate is not None:
        content = _read_candidate(job.candidate.path, job.candidate.sha256)
        # In a folder of its own: no candidate's name can collide with our files.
        name = Path(job.candidate.path).name
        files[f"candidate/{name}"] = content
        overrides = {
            job.override: {
                "file": f"{seen_at}/candidate/{name}",
                "function": job.candidate.function,
            }
        }
        files["overrides.json"] = json.dumps({"overrides": overrides}).encode()
        spec["overrides"] = f"{seen_at}/overrides.json"
    files["job.json"] = json.dumps(spec).encode()
    return files


def write_baseline_inputs(mode: str, operator: Operator, settings: Settings) -> InputFiles:
    """Inputs of a job without a candidate, which tells what a candidate is held against."""
    spec = {"mode": mode, **_suite_part(operator, settings)}
    return {"job.json": json.dumps(spec).encode()}


def place(files: InputFiles, folder: Path) -> None:
    """Writes input files, readable by whatever user the job runs as, writable by nobody."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        path.chmod(0o444)
    for directory in [folder, *(p for p in folder.iterdir() if p.is_dir())]:
        directory.chmod(0o755)


def make_launch(
    executor: Executor,
    name: str,
    run_folder: Path,
    folder: Path,
    settings: Settings,
    profiling: bool,
) -> Launch:
    """A launch whose folder is prepared; the executor is part of its name."""
    unique = launch_name(executor.name, run_folder.name, name)
    launch = Launch(unique, run_folder, folder, settings, profiling)
    prepare(launch)
    return launch


def _suite_part(operator: Operator, settings: Settings) -> dict[str, Any]:
    return {
        "op": operator.name,
        "level": settings.level,
        "test": operator.test,
        "benchmark": operator.benchmark,
    }


def _read_candidate(path: str, sha256: str) -> bytes:
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise CandidateChanged(f"candidate {path} cannot be read: {error.strerror}") from error
    if hashlib.sha256(content).hexdigest() != sha256:
        raise CandidateChanged(
            f"candidate {path} was edited after the run was planned; run it again or --resume"
        )
    return content
