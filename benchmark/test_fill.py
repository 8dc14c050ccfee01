# SPDX-License-Identifier: Apache-2.0
"""fill: a number into every element of a new tensor."""

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


@pytest.mark.fill
def test_fill() -> None:
    def build(shape: tuple[int, ...], dtype: torch.dtype, device: str) -> Inputs:
        return Inputs((torch.empty(shape, dtype=dtype, device=device), 0.5))

    Benchmark("fill", "torch.fill", build, SHAPES, gems_op=flag_gems.fill, shape_desc="sizes").run()
