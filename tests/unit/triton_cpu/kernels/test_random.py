# SPDX-License-Identifier: Apache-2.0
"""Triton's counter-based random numbers: the same bits as in Triton's interpreter."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import torch

from tests.unit.triton_cpu.kernels.random_draws import draws

ROOT = Path(__file__).parents[4]


def test_bits_are_those_of_the_interpreter() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.unit.triton_cpu.kernels.random_draws"],
        cwd=ROOT,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]),
            "TRITON_INTERPRET": "1",
        },
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    expected = {name: torch.tensor(bits) for name, bits in json.loads(done.stdout).items()}
    found = draws()
    assert found.keys() == expected.keys()
    for name, numbers in found.items():
        if name == "normal":
            # Box-Muller goes through logarithm, sine and cosine, each a few ulp from libm's.
            reference = expected[name].numpy().astype(np.int32).view(np.float32)
            np.testing.assert_allclose(numbers.numpy(), reference, rtol=2e-6, atol=2e-6)
        else:
            assert torch.equal(numbers.view(torch.int32).long(), expected[name]), name


def test_uniform_numbers_fill_the_unit_interval() -> None:
    uniform = draws()["uniform"].double()
    assert ((uniform >= 0) & (uniform < 1)).all()
    # Five standard errors of the mean of n uniform numbers.
    assert abs(uniform.mean() - 0.5) < 5 / (12 * uniform.numel()) ** 0.5
