# SPDX-License-Identifier: Apache-2.0
"""The key path of an RWKV block against torch's operators one after the other."""

from __future__ import annotations

import pytest
import torch

import flag_gems
from flag_gems.testing.benchmark import Benchmark, Inputs, Shapes

SHAPES = Shapes(
    core=((16384, 8, 64), (4096, 64, 64), (16, 64, 64)),
    more=((1, 8, 64), (1000, 5, 80)),
    cpu_core=((64, 8, 64), (16, 4, 32)),
    cpu_more=((1, 8, 64),),
)


def composed(
    k: torch.Tensor, kk: torch.Tensor, a: torch.Tensor, ka: torch.Tensor, H: int, N: int
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    scaled = (k * kk).unflatten(-1, (H, N))
    unit = torch.nn.functional.normalize(scaled, dim=-1).flatten(-2)
    return k * (1 + (a - 1) * ka), unit, unit * a


@pytest.mark.rwkv_ka_fusion
def test_rwkv_ka_fusion() -> None:
    def build(shape: tuple[int, ...], dtype: torch.dtype, device: str) -> Inputs:
        tokens, heads, size = shape
        k, a = torch.rand((2, tokens, heads * size), dtype=dtype, device=device).unbind(0)
        kk, ka = torch.rand((2, heads * size), dtype=dtype, device=device).unbind(0)
        return Inputs((k, kk, a, ka, heads, size))

    Benchmark(
        "rwkv_ka_fusion",
        composed,
        build,
        SHAPES,
        gems_op=flag_gems.rwkv_ka_fusion,
        shape_desc="tokens, heads, size",
    ).run()
