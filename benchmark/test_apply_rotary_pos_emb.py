# SPDX-License-Identifier: Apache-2.0
"""Rotary embedding of queries and keys against the composition that models are written with."""

from __future__ import annotations

import pytest
import torch

import flag_gems
from flag_gems.testing.benchmark import Benchmark, Inputs, Shapes

SHAPES = Shapes(
    core=((4, 2048, 32, 8, 128), (1, 8192, 32, 32, 128), (64, 1, 32, 8, 128)),
    more=((8, 512, 16, 16, 64), (2, 1000, 6, 2, 96)),
    cpu_core=((1, 64, 8, 2, 64), (2, 16, 4, 4, 32)),
    cpu_more=((1, 1, 8, 8, 128),),
)


def _turned(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, pairs: bool) -> torch.Tensor:
    if pairs:
        half = torch.stack((-x[..., 1::2], x[..., ::2]), -1).flatten(-2)
    else:
        first, second = x.chunk(2, -1)
        half = torch.cat((-second, first), -1)
    return x * cos + half * sin


def composed(
    q: torch.Tensor,
    k: torch.Tensor,
    cos: torch.Tensor,
    sin: torch.Tensor,
    position_ids: torch.Tensor | None = None,
    rotary_interleaved: bool = False,
) -> tuple[torch.Tensor, torch.Tensor]:
    assert position_ids is None
    tables = []
    for table in (cos[: q.shape[1]], sin[: q.shape[1]]):
        wide = table.repeat_interleave(2, -1) if rotary_interleaved else table.repeat(1, 2)
        tables.append(wide[None, :, None])
    return _turned(q, *tables, rotary_interleaved), _turned(k, *tables, rotary_interleaved)


@pytest.mark.apply_rotary_pos_emb
def test_apply_rotary_pos_emb() -> None:
    def build(shape: tuple[int, ...], dtype: torch.dtype, device: str, interleaved: bool) -> Inputs:
        batch, length, heads, kv_heads, size = shape
        q = torch.randn((batch, length, heads, size), dtype=dtype, device=device)
        k = torch.randn((batch, length, kv_heads, size), dtype=dtype, device=device)
        angles = torch.rand((length, size // 2), device=device)
        cos, sin = angles.cos().to(dtype), angles.sin().to(dtype)
        return Inputs((q, k, cos, sin, None, interleaved))

    Benchmark(
        "apply_rotary_pos_emb",
        composed,
        build,
        SHAPES,
        gems_op=flag_gems.apply_rotary_pos_emb,
        params=({"interleaved": False}, {"interleaved": True}),
        shape_desc="batch, length, heads, key heads, size",
    ).run()
