# SPDX-License-Identifier: Apache-2.0
"""Hardware counters: a profiler's good and bad ends, each with its claim.

A script on PATH stands for the vendor's profiler: how that ends is what matters here.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench_runner.harness.counters import collect

PRELUDE = """#!/bin/sh
if [ "$1" = --import ]; then echo '"ID","Kernel Name"'; exit 0; fi
while [ $# -gt 0 ]; do
    case "$1" in
        --export) report=$2; shift 2 ;;
        --log-file) log=$2; shift 2 ;;
        --profile-from-start|--clock-control) shift 2 ;;
        --*) shift ;;
        *) break ;;
    esac
done
"""


def run(command: list[str]) -> int:
    return subprocess.run(command, check=False).returncode


def collected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str | None
) -> tuple[dict[str, object], set[str]]:
    """The claim, and the names of what was left, after a session that writes a file."""
    programs, out = tmp_path / "bin", tmp_path / "out"
    programs.mkdir()
    out.mkdir()
    if script is not None:
        (programs / "ncu").write_text(PRELUDE + script)
        (programs / "ncu").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    session = [sys.executable, "-c", f"open({str(out / 'ran')!r}, 'w')"]
    collect("ncu", session, str(out), run)
    claim = json.loads((out / "counters.json").read_text())
    return claim, {path.name for path in out.iterdir()}


def test_a_report_and_its_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = '"$@" && echo data > "$report"; echo connected > "$log"\n'
    claim, names = collected(tmp_path, monkeypatch, script)
    assert claim == {"profiler": "ncu", "collected": True, "reason": ""}
    assert {"ran", "counters.ncu-rep", "counters.csv"} <= names


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (None, "not on the job's PATH"),
        ('echo "==ERROR== ERR_NVGPUCTRPERM" > "$log"; exit 1\n', "administrators alone"),
        ('"$@"; exit 9\n', "exit code 9"),
        ('"$@"; echo nothing > "$log"\n', "saw no kernel"),
    ],
)
def test_no_counters_and_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str | None, reason: str
) -> None:
    claim, names = collected(tmp_path, monkeypatch, script)
    assert claim["collected"] is False
    assert reason in str(claim["reason"])
    assert "counters.csv" not in names
