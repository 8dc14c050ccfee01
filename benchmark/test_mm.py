# SPDX-License-Identifier: Apache-2.0
"""mm: the product of two matrices, the second as stored or transposed."""

from __future__ import annotations

import pytest
import torch

import flag_gems
from flag_gems.testing.benchmark import Benchmark, Inputs, Shapes

SHAPES = Shapes(
    core=((1024, 1024, 1024), (4096, 4096, 4096), (16, 4096, 4096), (1000, 777, 513)),
    more=((8192, 8192, 8192), (384, 384, 384), (1, 11008, 4096)),
    cpu_core=((32, 32, 32), (50, 33, 70)),
    cpu_more=((96, 96, 96), (1, 64, 128)),
)


@pytest.mark.mm
def test_mm() -> None:
    def build(shape: tuple[int, ...], dtype: torch.dtype, device: str, layout: str) -> Inputs:
        m, n, k = shape
        left = torch.randn((m, k), dtype=dtype, device=device)
        if layout == "nt":
            right = torch.randn((n, k), dtype=dtype, device=device).t()
        else:
            right = torch.randn((k, n), dtype=dtype, device=device)
        return Inputs((left, right))

    Benchmark(
        "mm",
        "torch.mm",
        build,
        SHAPES,
        gems_op=flag_gems.mm,
        params=({"layout": "nn"}, {"layout": "nt"}),
        shape_desc="M, N, K",
    ).run()
