# SPDX-License-Identifier: Apache-2.0
"""One pytest session over one operator: the job's mode as pytest arguments, and its clock.

The specification in JOB.json is written by the runner (``bench_runner.executors.inputs``).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import Any

from bench_runner.harness.claim_file import write_claim

Spec = dict[str, Any]
COUNTED = "--counted"
"""Third argument of the session that runs under a profiler of hardware counters."""


class Clock:
    """Notes when the phases of the session began.

    Each reading is on disk at once: a job that is killed still tells how far it got.
    """

    def __init__(self, out: str) -> None:
        self._out = out
        self._readings: dict[str, float] = {}

    def note(self, name: str) -> None:
        self._readings[name] = time.time()
        write_claim(self._out, "timeline.json", self._readings)


def arguments(spec: Spec, out: str) -> list[str]:
    """Command line of the session's pytest, for every mode."""
    mode, op = spec["mode"], spec["op"]
    accuracy = mode == "correctness"
    line = ["-q", "-ra", "--tb=short", "-p", "no:cacheprovider", "-p", "no:xdist"]
    # What a candidate prints belongs in the log at once: captured, it dies with a killed session.
    line.append("--capture=no")
    # Its plug-in imports all of hypothesis at the end of a session that may not use any of it.
    line += ["-p", "no:hypothesispytest"]
    line += [spec["test"] if accuracy else spec["benchmark"], "-m", op]
    if accuracy:
        line += ["--quick"] if spec["level"] == "core" else []
    else:
        line += ["--level", spec["level"]]
    if spec.get("overrides"):
        line += ["--override-config", spec["overrides"]]
    report = os.path.join(out, "report.json")
    if mode == "cases":
        return [*line, "--list-cases", "--output", report]
    if mode == "profile":
        return [
            *line,
            "--profile-only",
            "--case-id",
            spec["case_id"],
            "--profile-warmup",
            str(spec["profile_warmup"]),
            "--profile-iterations",
            str(spec["profile_iterations"]),
        ]
    line += ["--record", "json", "--output", report]
    if mode == "preflight":
        line.append("--preflight-only")
    elif mode == "reference":
        line.append("--reference-only")
    elif mode == "benchmark":
        line += ["--warmup", str(spec["warmup_ms"]), "--iter", str(spec["iter_ms"])]
    return line


def run(spec: Spec, out: str) -> int:
    """The job's session, in its mode."""
    clock = Clock(out)
    # flag_gems goes first: on the CPU it has to choose how Triton runs before Triton is imported.
    import flag_gems  # noqa: F401, I001
    import pytest

    clock.note("imported")
    plugins: list[Any] = []
    if spec["mode"] == "profile":
        from bench_runner.harness.profile import ProfilePlugin

        plugins.append(ProfilePlugin(out))
    code = int(pytest.main(arguments(spec, out), plugins=plugins))
    clock.note("pytest_end")
    if spec["mode"] == "cases" and code == 0:
        # Its own process: tests/ and benchmark/ each bring a conftest.
        code = subprocess.run(
            [sys.executable, "-m", "bench_runner.harness.collect", spec["op"], spec["level"]]
            + [spec["test"], out],
            check=False,
        ).returncode
    return code


def run_counted(spec: Spec, out: str) -> int:
    """Profile mode's session once more, under a profiler that counts between two marks."""
    import flag_gems  # noqa: F401, I001
    import pytest
    from bench_runner.harness.profile import MarksPlugin

    return int(pytest.main(arguments(spec, out), plugins=[MarksPlugin()]))


def main(argv: list[str]) -> int:
    job_path, out, *counted = argv
    with open(job_path, encoding="utf-8") as file:
        spec = json.load(file)
    return run_counted(spec, out) if counted == [COUNTED] else run(spec, out)


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    # Taking torch down in order costs a third of a second and nothing is left to be done by it.
    os._exit(code)
