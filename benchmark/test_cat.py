# SPDX-License-Identifier: Apache-2.0
"""cat of two matrices along each dimension."""

from __future__ import annotations

import pytest
import torch

import flag_gems
from flag_gems.testing.benchmark import Benchmark, Inputs, Shapes

SHAPES = Shapes(
    core=((1024, 1024), (4096, 4096), (8192, 8192)),
    more=((20000, 320), (1000, 65537)),
    cpu_core=((64, 64), (100, 1000)),
    cpu_more=((20, 480), (1, 1)),
)


@pytest.mark.cat
def test_cat() -> None:
    def build(shape: tuple[int, ...], dtype: torch.dtype, device: str, dim: int) -> Inputs:
        one = torch.randn(shape, dtype=dtype, device=device)
        return Inputs(([one, torch.randn_like(one)], dim))

    Benchmark(
        "cat",
        "torch.cat",
        build,
        SHAPES,
        gems_op=flag_gems.cat,
        params=({"dim": 0}, {"dim": -1}),
        shape_desc="rows, columns",
    ).run()
