# SPDX-License-Identifier: Apache-2.0
"""div, floor_divide and remainder of two tensors of one shape."""

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
    return Inputs((left, torch.rand_like(left) + 0.5))


@pytest.mark.div
def test_div() -> None:
    Benchmark("div", "torch.div", build, SHAPES, gems_op=flag_gems.div, shape_desc="sizes").run()


@pytest.mark.floor_divide
def test_floor_divide() -> None:
    Benchmark(
        "floor_divide",
        "torch.floor_divide",
        build,
        SHAPES,
        gems_op=flag_gems.floor_divide,
        shape_desc="sizes",
    ).run()


@pytest.mark.remainder
def test_remainder() -> None:
    Benchmark(
        "remainder",
        "torch.remainder",
        build,
        SHAPES,
        gems_op=flag_gems.remainder,
        shape_desc="sizes",
    ).run()
