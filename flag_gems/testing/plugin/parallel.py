# SPDX-License-Identifier: Apache-2.0
"""--parallel N: one benchmark session a device, each with its share of the cases.

Sessions are processes of their own that see one device each. They share the host's cores, so this
is for the device times of mode kernel; latencies of the host's part may suffer.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from .report import ReportFile, record_format

VISIBLE_DEVICES = {
    "nvidia": "CUDA_VISIBLE_DEVICES",
    "iluvatar": "CUDA_VISIBLE_DEVICES",
    "mthreads": "MUSA_VISIBLE_DEVICES",
    "ascend": "ASCEND_RT_VISIBLE_DEVICES",
}
"""The variable that narrows a vendor's devices; the cpu vendor has one device and needs none."""


def without_options(arguments: Sequence[str], names: Sequence[str]) -> list[str]:
    """The command line without some options, each of which takes one value."""
    kept: list[str] = []
    skip = False
    for argument in arguments:
        if skip:
            skip = False
        elif argument in names:
            skip = True
        elif argument.partition("=")[0] not in names:
            kept.append(argument)
    return kept


def merge(reports: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """One benchmark report of several: the worst result, and each dtype's cases by ordinal."""
    rank = ("skipped", "passed", "failed")
    merged: dict[str, Any] = {}
    for report in reports:
        for operator, entry in report.items():
            whole = merged.setdefault(
                operator, {"result": "skipped", "reason": None, "details": []}
            )
            if rank.index(entry["result"]) > rank.index(whole["result"]):
                whole.update(result=entry["result"], reason=entry["reason"])
            for detail in entry["details"]:
                head = {key: value for key, value in detail.items() if key != "result"}
                same = [d for d in whole["details"] if {**head, "result": d["result"]} == d]
                if not same:
                    whole["details"].append({**head, "result": []})
                    same = whole["details"][-1:]
                same[0]["result"] += detail["result"]
    for whole in merged.values():
        for detail in whole["details"]:
            detail["result"].sort(
                key=lambda case: (case["case_id"].split("::")[:2], case["ordinal"])
            )
    return merged


def run_parallel(config: pytest.Config) -> int:
    """Run the session of this command line on several devices; returns the exit status.

    Raises:
        pytest.UsageError: there are fewer devices than asked for.
    """
    import flag_gems

    count = config.option.parallel
    present = flag_gems.runtime.device.device_count
    if count > present:
        raise pytest.UsageError(
            f"--parallel {count} needs {count} devices; {flag_gems.vendor_name} has {present}"
        )
    report = _output(config)
    if report is not None:
        report.clear()
    arguments = without_options(
        [str(argument) for argument in config.invocation_params.args],
        ("--parallel", "--output", "--record", "--case-id"),
    )
    with tempfile.TemporaryDirectory() as folder:
        cases = config.option.case_id or _list_cases(arguments, Path(folder) / "cases.json")
        shares = [share for share in (cases[index::count] for index in range(count)) if share]
        sessions = []
        for index, share in enumerate(shares):
            output = Path(folder) / f"{index}.json"
            command = [sys.executable, "-m", "pytest", *arguments, "--output", str(output)]
            command += [part for case in share for part in ("--case-id", case)]
            environment = dict(os.environ)
            if flag_gems.vendor_name in VISIBLE_DEVICES:
                _narrow(environment, VISIBLE_DEVICES[flag_gems.vendor_name], index)
            sessions.append((subprocess.Popen(command, env=environment), output))
        codes = [session.wait() for session, _ in sessions]
        parts = [json.loads(path.read_text()) for _, path in sessions if path.exists()]
    if report is not None and len(parts) == len(sessions):
        report.write(merge(parts))
    return next((code for code in codes if code), 0)


def _output(config: pytest.Config) -> ReportFile | None:
    kind = record_format(config)
    if kind == "log":
        raise pytest.UsageError("--parallel records json only")
    return ReportFile(config.option.output or "benchmark_result.json") if kind == "json" else None


def _list_cases(arguments: list[str], path: Path) -> list[str]:
    without_override = without_options(arguments, ("--override", "--override-config"))
    command = [sys.executable, "-m", "pytest", *without_override, "--list-cases"]
    listing = subprocess.run(
        [*command, "--output", str(path)], check=False, capture_output=True, text=True
    )
    if not path.exists():
        raise pytest.UsageError(f"--parallel: the cases cannot be listed:\n{listing.stdout}")
    document = json.loads(path.read_text())
    return [case["case_id"] for entry in document["benchmarks"] for case in entry["cases"]]


def _narrow(environment: dict[str, str], variable: str, index: int) -> None:
    """Leave one of the devices that are visible now."""
    visible = environment.get(variable)
    environment[variable] = visible.split(",")[index] if visible else str(index)
