# SPDX-License-Identifier: Apache-2.0
"""add and sub: the element-wise sum and difference of two tensors of one shape."""

from __future__ import annotations

import pytest
import torch

import flag_gems
from flag_gems.testing.benchmark import Benchmark, Inputs, Shapes

SHAPES = Shapes(
    core=((1024, 1024), (64, 64, 512), (4096, 4096), (1 << 26,)),
    more=((1 << 28,), (20, 320, 15), (10000, 65537)),
    cpu_core=((64, 64), (100_000,)),
    cpu_more=((20, 32, 15), (1,)),
)


def build(shape: tuple[int, ...], dtype: torch.dtype, device: str) -> Inputs:
    left = torch.randn(shape, dtype=dtype, device=device)
    return Inputs((left, torch.randn_like(left)))


@pytest.mark.add
def test_add() -> None:
    Benchmark("add", "torch.add", build, SHAPES, gems_op=flag_gems.add, shape_desc="sizes").run()


@pytest.mark.sub
def test_sub() -> None:
    Benchmark("sub", "torch.sub", build, SHAPES, gems_op=flag_gems.sub, shape_desc="sizes").run()
