# SPDX-License-Identifier: Apache-2.0
"""bmm and baddbmm: products of batches of matrices."""

from __future__ import annotations

import pytest
import torch

import flag_gems
from flag_gems.testing.benchmark import Benchmark, Inputs, Shapes

SHAPES = Shapes(
    core=((64, 512, 512, 512), (16, 1024, 1024, 1024), (32, 128, 4096, 128), (8, 100, 77, 51)),
    more=((256, 64, 64, 64), (4, 4096, 4096, 4096)),
    cpu_core=((4, 32, 32, 32), (3, 50, 33, 70)),
    cpu_more=((8, 96, 96, 96),),
)


def _factors(
    shape: tuple[int, ...], dtype: torch.dtype, device: str
) -> tuple[torch.Tensor, torch.Tensor]:
    batches, m, n, k = shape
    left = torch.randn((batches, m, k), dtype=dtype, device=device)
    return left, torch.randn((batches, k, n), dtype=dtype, device=device)


@pytest.mark.bmm
def test_bmm() -> None:
    def build(shape: tuple[int, ...], dtype: torch.dtype, device: str) -> Inputs:
        return Inputs(_factors(shape, dtype, device))

    Benchmark(
        "bmm", "torch.bmm", build, SHAPES, gems_op=flag_gems.bmm, shape_desc="B, M, N, K"
    ).run()


@pytest.mark.baddbmm
def test_baddbmm() -> None:
    def build(shape: tuple[int, ...], dtype: torch.dtype, device: str) -> Inputs:
        added = torch.randn((shape[2],), dtype=dtype, device=device)
        return Inputs((added, *_factors(shape, dtype, device)))

    Benchmark(
        "baddbmm",
        "torch.baddbmm",
        build,
        SHAPES,
        gems_op=flag_gems.baddbmm,
        shape_desc="B, M, N, K",
    ).run()
