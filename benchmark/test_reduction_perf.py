# SPDX-License-Identifier: Apache-2.0
"""Reductions: over everything, and along the last dimension."""

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


NAMES = ("sum", "mean", "max", "min", "amax", "amin", "argmax", "argmin", "any", "all", "prod")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=getattr(pytest.mark, name)) for name in NAMES]
)
def test_reduction(name: str) -> None:
    Benchmark(
        name, f"torch.{name}", build, SHAPES, gems_op=getattr(flag_gems, name), params=DIMENSIONS
    ).run()
