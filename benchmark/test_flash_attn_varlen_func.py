# SPDX-License-Identifier: Apache-2.0
"""Attention over packed sequences of equal length against scaled_dot_product_attention of them."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import flag_gems
from flag_gems.testing.benchmark import Benchmark, Inputs, Shapes

SHAPES = Shapes(
    core=((8, 1024, 32, 8, 128), (2, 8192, 16, 16, 128), (4, 2048, 32, 32, 64)),
    more=((8, 1024, 16, 16, 256), (3, 1000, 6, 2, 96)),
    cpu_core=((2, 64, 4, 2, 64), (1, 200, 4, 4, 32)),
    cpu_more=((1, 128, 8, 1, 128),),
)

DTYPES = ("float16", "bfloat16")


def composed(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    max_seqlen_q: int,
    cu_seqlens_q: torch.Tensor,
    max_seqlen_k: int,
    cu_seqlens_k: torch.Tensor,
    *,
    causal: bool,
    **_: Any,
) -> torch.Tensor:
    batch = cu_seqlens_q.numel() - 1
    q, k, v = (x.view(batch, max_seqlen_q, *x.shape[1:]).transpose(1, 2) for x in (q, k, v))
    out = torch.nn.functional.scaled_dot_product_attention(
        q, k, v, is_causal=causal, enable_gqa=q.shape[1] != k.shape[1]
    )
    return out.transpose(1, 2).flatten(0, 1)


def _build(shape: tuple[int, ...], dtype: torch.dtype, device: str, causal: bool) -> Inputs:
    batch, length, heads, kv_heads, size = shape
    q = torch.randn((batch * length, heads, size), dtype=dtype, device=device)
    k, v = (
        torch.randn((batch * length, kv_heads, size), dtype=dtype, device=device) for _ in range(2)
    )
    starts = torch.arange(batch + 1, dtype=torch.int32, device=device) * length
    return Inputs((q, k, v, length, starts, length, starts), {"causal": causal})


def _run(name: str) -> None:
    Benchmark(
        name,
        composed,
        _build,
        SHAPES,
        gems_op=getattr(flag_gems, name),
        dtypes=DTYPES,
        params=({"causal": True}, {"causal": False}),
        shape_desc="batch, length, heads, key heads, size",
    ).run()


@pytest.mark.flash_attn_varlen_func
def test_flash_attn_varlen_func() -> None:
    _run("flash_attn_varlen_func")


@pytest.mark.flash_attn_varlen_opt_func
def test_flash_attn_varlen_opt_func() -> None:
    _run("flash_attn_varlen_opt_func")
