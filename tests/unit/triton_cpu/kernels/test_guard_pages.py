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

ROOT = Path(__file__).parents[4]


@pytest.mark.parametrize(
    "case", ["tail", "head", "tile", "gather", "scalar", "reduce", "atomic", "nothing"]
)
def test_masked_lanes_do_not_fault(case: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.unit.triton_cpu.kernels.guarded_launches", case],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.split() == [case, "right"]
