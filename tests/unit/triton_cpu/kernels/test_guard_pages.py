# SPDX-License-Identifier: Apache-2.0
"""Masked-off lanes touch no memory: tensors end right before, or begin right after, unmapped pages.

A stray access kills the process, so the launches run in a process of their own.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.triton_cpu.kernels.guarded_launches import CASES

ROOT = Path(__file__).parents[4]


@pytest.fixture(scope="module")
def outcomes() -> dict[str, str]:
    """What the process of launches said of each case, in order, up to its end."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.unit.triton_cpu.kernels.guarded_launches"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
        capture_output=True,
        text=True,
        timeout=300,
    )
    said = dict(line.split() for line in done.stdout.splitlines())
    if done.returncode != 0:
        unreached = [case for case in CASES if case not in said]
        said[unreached[0]] = f"ended the process with {done.returncode}: {done.stderr[-1000:]}"
    return said


@pytest.mark.parametrize("case", CASES)
def test_masked_lanes_do_not_fault(case: str, outcomes: dict[str, str]) -> None:
    assert outcomes.get(case, "not reached: an earlier case ended the process") == "right"
