# SPDX-License-Identifier: Apache-2.0
"""A vector of which nine tenths are zero times a matrix, against torch's dense product."""

from __future__ import annotations

import pytest
import torch

import flag_gems
from flag_gems.testing.benchmark import Benchmark, Inputs, Shapes

SHAPES = Shapes(
    core=((16384, 4096), (8192, 2048)),
    more=((1000, 5003),),
    cpu_core=((256, 64), (4096, 256)),
    cpu_more=((100, 33),),
)

_THRESHOLD = 1.2816
"""Normal numbers of which a tenth lies above."""


def dense(k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return k @ v


@pytest.mark.rwkv_mm_sparsity
def test_rwkv_mm_sparsity() -> None:
    def build(shape: tuple[int, ...], dtype: torch.dtype, device: str) -> Inputs:
        k = torch.relu(torch.randn(shape[:1], device=device) - _THRESHOLD).to(dtype)
        return Inputs((k, torch.randn(shape, dtype=dtype, device=device)))

    Benchmark(
        "rwkv_mm_sparsity",
        dense,
        build,
        SHAPES,
        gems_op=flag_gems.rwkv_mm_sparsity,
        shape_desc="n, d",
    ).run()
