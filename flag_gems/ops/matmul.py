# SPDX-License-Identifier: Apache-2.0
"""The matrix product behind mm, addmm and addmm_: one kernel, ``beta * bias + alpha * a @ b``."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import triton
import triton.language as tl

from flag_gems.runtime import device, dtypes, interpreted, memory, torch_device_fn
from flag_gems.runtime.tiling import next_power_of_2


@triton.jit(do_not_specialize=["alpha", "beta"])
def matmul_kernel(
    a,
    b,
    bias,
    out,
    M,
    N,
    K,
    a_row,
    a_column,
    b_row,
    b_column,
    bias_row,
    bias_column,
    out_row,
    out_column,
    alpha,
    beta,
    HAS_BIAS: tl.constexpr,
    SCALED: tl.constexpr,
    EVEN: tl.constexpr,
    WIDEN: tl.constexpr,
    PRECISION: tl.constexpr,
    ACCUMULATE: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP: tl.constexpr,
):
    # Programs walk down GROUP tile rows before the next tile column, so that tiles of b stay in
    # cache.
    program = tl.program_id(0)
    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles_n = tl.cdiv(N, BLOCK_N)
    group = program // (GROUP * tiles_n)
    first = group * GROUP
    height = tl.minimum(tiles_m - first, GROUP)
    local = program % (GROUP * tiles_n)
    tile_m = first + local % height
    tile_n = local // height

    m = tile_m.to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tile_n.to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    a_tile = a + m[:, None] * a_row + k[None, :].to(tl.int64) * a_column
    b_tile = b + k[:, None].to(tl.int64) * b_row + n[None, :] * b_column
    total = tl.zeros((BLOCK_M, BLOCK_N), ACCUMULATE)
    for start in range(0, K, BLOCK_K):
        if EVEN:
            left = tl.load(a_tile)
            right = tl.load(b_tile)
        else:
            inside = k < K - start
            left = tl.load(a_tile, mask=(m < M)[:, None] & inside[None, :], other=0.0)
            right = tl.load(b_tile, mask=inside[:, None] & (n < N)[None, :], other=0.0)
        if WIDEN:
            left = left.to(ACCUMULATE)
            right = right.to(ACCUMULATE)
        total = tl.dot(left, right, total, input_precision=PRECISION, out_dtype=ACCUMULATE)
        a_tile += tl.cast(a_column, tl.int64) * BLOCK_K
        b_tile += tl.cast(b_row, tl.int64) * BLOCK_K

    mask = (m < M)[:, None] & (n < N)[None, :]
    if SCALED:
        if tl.float64 == ACCUMULATE:
            total *= alpha.to(tl.int64).to(tl.float64, bitcast=True)
        else:
            total *= alpha
    if HAS_BIAS:
        start_value = tl.load(
            bias + m[:, None] * bias_row + n[None, :] * bias_column, mask=mask, other=0.0
        ).to(ACCUMULATE)
        if SCALED:
            if tl.float64 == ACCUMULATE:
                start_value *= beta.to(tl.int64).to(tl.float64, bitcast=True)
            else:
                start_value *= beta
        total += start_value
    tl.store(out + m[:, None] * out_row + n[None, :] * out_column, total, mask=mask)


@dataclass(frozen=True)
class _Tile:
    m: int
    n: int
    k: int
    num_warps: int
    num_stages: int


def _tile(m: int, n: int, k: int, dtype: torch.dtype) -> _Tile:
    if interpreted:
        short, narrow, deep = (min(max(next_power_of_2(size), 16), 256) for size in (m, n, k))
        return _Tile(short, narrow, deep, 4, 1)
    if dtype is torch.float64:
        return _Tile(32, 32, 16, 4, 2)
    if dtype is torch.float32:
        return _Tile(64, 64, 32, 4, 3)
    short = min(max(next_power_of_2(m), 16), 128)
    narrow = min(max(next_power_of_2(n), 16), 256)
    # Too few full tiles leave most of the device idle; halving them costs less than that.
    while short * narrow > 64 * 64 and triton.cdiv(m, short) * triton.cdiv(n, narrow) < 128:
        short, narrow = (short, narrow // 2) if narrow >= short else (short // 2, narrow)
    return _Tile(short, narrow, 64, 8 if short * narrow >= 128 * 128 else 4, 3)


def _precision(dtype: torch.dtype) -> str:
    """How float32 factors enter the product: by torch's allow_tf32 on CUDA, else exactly."""
    if dtype is torch.float32 and device.name == "cuda" and torch.backends.cuda.matmul.allow_tf32:
        return "tf32"
    return "ieee"


def launch(
    a: torch.Tensor,
    b: torch.Tensor,
    out: torch.Tensor,
    bias: torch.Tensor | None = None,
    alpha: float = 1.0,
    beta: float = 1.0,
) -> None:
    """``out = beta * bias + alpha * (a @ b)``; without a bias, ``alpha * (a @ b)``.

    Args:
        a: [M, K], floating, any strides.
        b: [K, N], dtype of ``a``.
        out: [M, N], dtype of ``a``, not empty. May be ``bias``, must not overlap ``a`` or ``b``.
        bias: broadcastable to [M, N], dtype of ``a``.

    Products are summed in float32, for float64 in float64.
    """
    m, k = a.shape
    n = b.shape[1]
    tile = _tile(m, n, k, a.dtype)
    bias_strides = (0, 0) if bias is None else bias.expand(m, n).stride()
    double = a.dtype is torch.float64
    with torch_device_fn.device(out.device):
        matmul_kernel[(triton.cdiv(m, tile.m) * triton.cdiv(n, tile.n),)](
            a,
            b,
            out if bias is None else bias,
            out,
            m,
            n,
            k,
            *a.stride(),
            *b.stride(),
            *bias_strides,
            *out.stride(),
            dtypes.float64_bits(alpha) if double else float(alpha),
            dtypes.float64_bits(beta) if double else float(beta),
            HAS_BIAS=bias is not None,
            SCALED=alpha != 1 or beta != 1,
            EVEN=m % tile.m == 0 and n % tile.n == 0 and k % tile.k == 0,
            # The interpreter multiplies bfloat16 as if its bits were integers.
            WIDEN=interpreted,
            PRECISION=_precision(a.dtype),
            ACCUMULATE=dtypes.compute(a.dtype),
            BLOCK_M=tile.m,
            BLOCK_N=tile.n,
            BLOCK_K=tile.k,
            GROUP=8,
            num_warps=tile.num_warps,
            num_stages=tile.num_stages,
        )


def limit(a: torch.Tensor, b: torch.Tensor) -> str | None:
    """Why ``a @ b`` is not for this kernel, or None."""
    if a.dim() != 2 or b.dim() != 2 or a.shape[1] != b.shape[0]:
        return "shapes"
    if a.dtype != b.dtype or not dtypes.is_floating(a.dtype):
        return f"dtypes {a.dtype}, {b.dtype}"
    return memory.limit(a, b)
