# SPDX-License-Identifier: Apache-2.0
"""addmm_: a matrix product added in place. Each call gets its own clone; see Inputs."""

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


@pytest.mark.addmm_
def test_addmm_() -> None:
    def build(
        shape: tuple[int, ...], dtype: torch.dtype, device: str, beta: float, alpha: float
    ) -> Inputs:
        m, n, k = shape
        target = torch.randn((m, n), dtype=dtype, device=device)
        left = torch.randn((m, k), dtype=dtype, device=device)
        right = torch.randn((k, n), dtype=dtype, device=device)
        return Inputs((target, left, right), {"beta": beta, "alpha": alpha}, writes=(0,))

    Benchmark(
        "addmm_",
        torch.Tensor.addmm_,
        build,
        SHAPES,
        gems_op=flag_gems.addmm_,
        params=({"beta": 1.0, "alpha": 1.0}, {"beta": 0.5, "alpha": 2.0}),
        shape_desc="M, N, K",
    ).run()
