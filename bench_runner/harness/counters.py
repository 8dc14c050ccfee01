# SPDX-License-Identifier: Apache-2.0
"""Hardware counters in profile mode: the session once more, under the vendor's own profiler.

A session of its own, because counters and torch.profiler want the same interface of the driver.
Nothing is granted for it: where the driver keeps counters from ordinary users there are none, and
the claim says why.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable

from bench_runner.harness.claim_file import write_claim

RESTRICTED = "ERR_NVGPUCTRPERM"
Run = Callable[[list[str]], int]
"""Runs a command to its end and returns its exit code."""


def collect(profiler: str, session: list[str], out: str, run: Run) -> None:
    """Leaves ``counters.ncu-rep``, ``counters.csv`` and ``counters.json`` (the claim) in ``out``.

    Args:
        profiler: name in backends.yaml.
        session: command line of the session, which starts and stops the profiler itself.
    """
    reason = _collect(profiler, session, out, run)
    claim = {"profiler": profiler, "collected": not reason, "reason": reason}
    write_claim(out, "counters.json", claim)


def _collect(profiler: str, session: list[str], out: str, run: Run) -> str:
    """Returns why there are no counters; empty where there are."""
    program = shutil.which(profiler)
    if program is None:
        return f"{profiler} is not on the job's PATH"
    log = os.path.join(out, "counters.log")
    report = os.path.join(out, "counters.ncu-rep")
    code = run(
        [program, "--profile-from-start", "off", "--clock-control", "none"]
        + ["--force-overwrite", "--export", report, "--log-file", log, *session]
    )
    said = _read(log)
    if RESTRICTED in said:
        return (
            "the driver gives counters to administrators alone; load it with "
            "NVreg_RestrictProfilingToAdminUsers=0"
        )
    if code != 0:
        return f"{profiler} ended with exit code {code}; see counters.log"
    if not os.path.exists(report):
        return f"{profiler} saw no kernel; see counters.log"
    with open(os.path.join(out, "counters.csv"), "wb") as table:
        printed = subprocess.run(
            [program, "--import", report, "--csv", "--page", "details"],
            stdin=subprocess.DEVNULL,
            stdout=table,
            check=False,
        ).returncode
    return "" if printed == 0 else f"{profiler} could not print its report"


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except FileNotFoundError:
        return ""
