# SPDX-License-Identifier: Apache-2.0
"""addmm: a matrix product added to a row that is broadcast, or to a matrix."""

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


@pytest.mark.addmm
def test_addmm() -> None:
    def build(shape: tuple[int, ...], dtype: torch.dtype, device: str, bias: str) -> Inputs:
        m, n, k = shape
        added = torch.randn((n,) if bias == "row" else (m, n), dtype=dtype, device=device)
        left = torch.randn((m, k), dtype=dtype, device=device)
        return Inputs((added, left, torch.randn((k, n), dtype=dtype, device=device)))

    Benchmark(
        "addmm",
        "torch.addmm",
        build,
        SHAPES,
        gems_op=flag_gems.addmm,
        params=({"bias": "row"}, {"bias": "matrix"}),
        shape_desc="M, N, K",
    ).run()
