# SPDX-License-Identifier: Apache-2.0
"""sort along the last dimension."""

from __future__ import annotations

import pytest
import torch

import flag_gems
from flag_gems.testing.benchmark import Benchmark, Inputs, Shapes

SHAPES = Shapes(
    core=((1024, 1024), (1024, 4096), (64, 65536), (1, 1 << 24)),
    more=((10000, 100), (16, 1 << 20)),
    cpu_core=((64, 1000), (1, 1 << 16)),
    cpu_more=((1000, 33), (4, 5000)),
)


def build(shape: tuple[int, ...], dtype: torch.dtype, device: str, descending: bool) -> Inputs:
    return Inputs((torch.randn(shape, dtype=dtype, device=device),), {"descending": descending})


@pytest.mark.sort
def test_sort() -> None:
    Benchmark(
        "sort",
        "torch.sort",
        build,
        SHAPES,
        gems_op=flag_gems.sort,
        params=({"descending": False}, {"descending": True}),
        shape_desc="rows, columns",
    ).run()
