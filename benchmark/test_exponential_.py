# SPDX-License-Identifier: Apache-2.0
"""exponential_: random numbers in place."""

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


@pytest.mark.exponential_
def test_exponential_() -> None:
    def build(shape: tuple[int, ...], dtype: torch.dtype, device: str) -> Inputs:
        return Inputs((torch.empty(shape, dtype=dtype, device=device),), writes=(0,))

    Benchmark(
        "exponential_",
        torch.Tensor.exponential_,
        build,
        SHAPES,
        gems_op=flag_gems.exponential_,
        shape_desc="sizes",
    ).run()
