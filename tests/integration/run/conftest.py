# SPDX-License-Identifier: Apache-2.0
"""Runs the real command line, on the local executor and in real containers."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

EXECUTORS = ["local", pytest.param("docker", marks=pytest.mark.docker)]
EXAMPLES = Path(__file__).parents[3] / "examples"


@dataclass(frozen=True)
class Bench:
    """``bench-runner`` in a folder of its own; lists of cases are shared within the session."""

    runs: Path
    executor: str

    def command(self, *arguments: str) -> list[str]:
        line = [sys.executable, "-m", "bench_runner", *arguments, "--runs-dir", str(self.runs)]
        if arguments[0] == "run" and "--resume" not in arguments:
            line += ["--executor", self.executor]
        return line

    def __call__(self, *arguments: str, code: int | None = None) -> dict[str, Any]:
        """Runs a verb with ``--format json``; answers the document."""
        done = subprocess.run(
            [*self.command(*arguments), "--format", "json"],
            capture_output=True,
            text=True,
            check=False,
        )
        if code is not None:
            assert done.returncode == code, done.stderr + done.stdout
        document = json.loads(done.stdout)
        assert isinstance(document, dict)
        return document

    def judge(self, folder: Path, source: str, *options: str) -> dict[str, Any]:
        """Writes a candidate of softmax and runs its preflight; answers the job's document."""
        candidate = folder / "candidate.py"
        candidate.write_text(source)
        line = ["run", "--op", "softmax", "--candidate", str(candidate), "--modes", "preflight"]
        (job,) = self(*line, *options)["jobs"]
        assert isinstance(job, dict)
        return job

    def containers(self) -> list[str]:
        """Containers of this folder's runs that still exist, running or not."""
        line = ["docker", "ps", "-a", "--filter", "label=io.bench-runner.run"]
        done = subprocess.run(
            [*line, "--format", '{{.Label "io.bench-runner.run"}}'],
            capture_output=True,
            text=True,
            check=True,
        )
        return [label for label in done.stdout.split() if label.startswith(str(self.runs))]

    def log(self, job: dict[str, Any]) -> str:
        (path,) = self.runs.glob(f"*/jobs/{job['id']}/job.log")
        return path.read_text(errors="replace")


@pytest.fixture(scope="session")
def listings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("listings")


@pytest.fixture(params=EXECUTORS)
def bench(request: pytest.FixtureRequest, tmp_path: Path, listings: Path) -> Bench:
    runs = tmp_path / "runs"
    runs.mkdir()
    (runs / ".expectations").symlink_to(listings)
    if request.param == "docker":
        request.getfixturevalue("docker_client")
    return Bench(runs, request.param)
