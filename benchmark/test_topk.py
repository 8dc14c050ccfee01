# SPDX-License-Identifier: Apache-2.0
"""topk along the last dimension."""

from __future__ import annotations

import pytest
import torch

import flag_gems
from flag_gems.testing.benchmark import Benchmark, Inputs, Shapes

SHAPES = Shapes(
    core=((64, 64), (4096, 4096), (64, 32000), (256, 65536)),
    more=((10000, 256), (1, 1 << 24)),
    cpu_core=((64, 64), (16, 32000)),
    cpu_more=((1000, 33), (4, 5000)),
)


def build(shape: tuple[int, ...], dtype: torch.dtype, device: str, k: int) -> Inputs:
    return Inputs((torch.randn(shape, dtype=dtype, device=device), k))


@pytest.mark.topk
def test_topk() -> None:
    Benchmark(
        "topk",
        "torch.topk",
        build,
        SHAPES,
        gems_op=flag_gems.topk,
        params=({"k": 5}, {"k": 32}),
        shape_desc="rows, columns",
    ).run()
