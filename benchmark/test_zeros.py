# SPDX-License-Identifier: Apache-2.0
"""zeros, ones and full of a size."""

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


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=getattr(pytest.mark, name)) for name in ("zeros", "ones", "full")],
)
def test_zeros(name: str) -> None:
    def build(shape: tuple[int, ...], dtype: torch.dtype, device: str) -> Inputs:
        value = (0.5,) if name == "full" else ()
        return Inputs((shape, *value), {"dtype": dtype, "device": device})

    Benchmark(
        name, f"torch.{name}", build, SHAPES, gems_op=getattr(flag_gems, name), shape_desc="sizes"
    ).run()
