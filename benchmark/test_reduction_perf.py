# SPDX-License-Identifier: Apache-2.0
"""sum and argmax: over everything, and along the last dimension."""

from __future__ import annotations

import pytest
import torch

import flag_gems
from flag_gems.testing.benchmark import Benchmark, Inputs, Shapes

SHAPES = Shapes(
    core=((1024, 1024), (4096, 4096), (64, 1 << 20), (8192, 8192)),
    more=((1 << 14, 1 << 14), (1000, 40999), (1, 1 << 26)),
    cpu_core=((32, 64), (64, 1000)),
    cpu_more=((1, 4096), (100, 33)),
)
DIMENSIONS = ({"dim": None}, {"dim": -1})


def build(shape: tuple[int, ...], dtype: torch.dtype, device: str, dim: int | None) -> Inputs:
    x = torch.randn(shape, dtype=dtype, device=device)
    return Inputs((x,), {} if dim is None else {"dim": dim})


@pytest.mark.sum
def test_sum() -> None:
    Benchmark("sum", "torch.sum", build, SHAPES, gems_op=flag_gems.sum, params=DIMENSIONS).run()


@pytest.mark.argmax
def test_argmax() -> None:
    Benchmark(
        "argmax", "torch.argmax", build, SHAPES, gems_op=flag_gems.argmax, params=DIMENSIONS
    ).run()
