# SPDX-License-Identifier: Apache-2.0
"""fused_add_rms_norm over the last dimension against torch's operators one after the other."""

from __future__ import annotations

import pytest
import torch

import flag_gems
from flag_gems.testing.benchmark import Benchmark, Inputs, Shapes

SHAPES = Shapes(
    core=((8192, 1024), (8192, 4096), (64, 16384)),
    more=((1, 4096), (32768, 512), (1000, 5003)),
    cpu_core=((32, 64), (64, 1000)),
    cpu_more=((1, 4096), (100, 33)),
)


def composed(
    x: torch.Tensor,
    residual: torch.Tensor,
    normalized_shape: tuple[int, ...],
    weight: torch.Tensor,
    eps: float,
) -> tuple[torch.Tensor, torch.Tensor]:
    residual.add_(x)
    x.copy_(torch.nn.functional.rms_norm(residual, normalized_shape, weight, eps))
    return x, residual


@pytest.mark.fused_add_rms_norm
def test_fused_add_rms_norm() -> None:
    def build(shape: tuple[int, ...], dtype: torch.dtype, device: str) -> Inputs:
        x, residual = (torch.randn(shape, dtype=dtype, device=device) for _ in range(2))
        weight = torch.randn(shape[-1:], dtype=dtype, device=device)
        return Inputs((x, residual, shape[-1:], weight, 1e-5), writes=(0, 1))

    Benchmark(
        "fused_add_rms_norm", composed, build, SHAPES, gems_op=flag_gems.fused_add_rms_norm
    ).run()
