# SPDX-License-Identifier: Apache-2.0
"""abs and neg: element-wise operators of one tensor."""

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
    return Inputs((torch.randn(shape, dtype=dtype, device=device),))


@pytest.mark.abs
def test_abs() -> None:
    Benchmark("abs", "torch.abs", build, SHAPES, gems_op=flag_gems.abs, shape_desc="sizes").run()


@pytest.mark.neg
def test_neg() -> None:
    Benchmark("neg", "torch.neg", build, SHAPES, gems_op=flag_gems.neg, shape_desc="sizes").run()
