# SPDX-License-Identifier: Apache-2.0
"""Completion as a shell asks for it, and in a real bash."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = Path(sys.executable).with_name("bench-runner")


def completed(line: str, cwd: Path | None = None) -> list[str]:
    """What bash would offer at the end of a line."""
    words = line.split(" ")
    asked = {
        "_BENCH_RUNNER_COMPLETE": "bash_complete",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
    }
    done = subprocess.run(
        [COMMAND], env={**os.environ, **asked}, cwd=cwd, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return [offer.partition(",")[2] for offer in done.stdout.split()]


@pytest.mark.parametrize(
    ("line", "offers"),
    [
        ("bench-runner re", ["report", "reindex"]),
        ("bench-runner inventory sh", ["shadow"]),
        ("bench-runner run --execu", ["--executor"]),
        ("bench-runner run --op softm", ["softmax", "softmax_backward"]),
        ("bench-runner cases --op rms", ["rms_norm"]),
        ("bench-runner run --backend nvidia-cuda13", ["nvidia-cuda133"]),
        ("bench-runner images build asc", ["ascend-cann850", "ascend-cann900"]),
        ("bench-runner show lat", ["latest"]),
        ("bench-runner completion z", ["zsh"]),
        ("bench-runner run --op nothing-like-it", []),
    ],
)
def test_verbs_options_and_values(line: str, offers: list[str]) -> None:
    assert completed(line) == offers


def test_runs_of_the_folder_that_was_named(tmp_path: Path) -> None:
    assert completed("bench-runner show ", cwd=tmp_path) == ["latest"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_for_each_shell(shell: str) -> None:
    done = subprocess.run(
        [COMMAND, "completion", shell], capture_output=True, text=True, check=True
    )
    assert "_BENCH_RUNNER_COMPLETE" in done.stdout


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_in_a_real_bash() -> None:
    script = (
        f"source <({COMMAND} completion bash)\n"
        f'complete -p bench-runner\nPATH="{COMMAND.parent}:$PATH"\n'
        "COMP_WORDS=(bench-runner comp); COMP_CWORD=1\n"
        "_bench_runner_completion bench-runner\n"
        'echo "${COMPREPLY[@]}"\n'
    )
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "compare completion"
