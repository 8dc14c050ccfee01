# SPDX-License-Identifier: Apache-2.0
"""A vector that is mostly zero, after a relu, times a matrix: rows under a zero are not read."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from flag_gems.runtime import device, dtypes, ledger, memory
from flag_gems.runtime.launcher import kernel

_ROWS = 64
"""Rows of one program on a GPU, at least: the chain of a load that waits for another has to be
short. A second pass adds up the programs of a column."""

_MOST_PARTS = 256


@kernel
def rwkv_mm_sparsity_kernel(
    k,
    v,
    partial,
    n,
    d,
    rows,
    k_step,
    v_row,
    BLOCK_N: tl.constexpr,
    BLOCK_D: tl.constexpr,
    COMPUTE: tl.constexpr,
):
    # Program (i, j) sums rows j * rows .. of column tile i.
    column = tl.program_id(0) * BLOCK_D + tl.arange(0, BLOCK_D)
    part = tl.program_id(1).to(tl.int64)
    inside = column < d
    first = part * rows
    last = tl.minimum(first + rows, n)
    total = tl.zeros((BLOCK_D,), COMPUTE)
    for start in range(first, last, BLOCK_N):
        row = start + tl.arange(0, BLOCK_N)
        factor = tl.load(k + row * k_step, mask=row < last, other=0.0).to(COMPUTE)
        # NaN is not 0: its row counts.
        mask = (factor != 0.0)[:, None] & inside[None, :]
        place = row.to(tl.int64)[:, None] * v_row + column[None, :]
        values = tl.load(v + place, mask=mask, other=0.0).to(COMPUTE)
        total += tl.sum(factor[:, None] * values, axis=0)
    tl.store(partial + part * d + column, total, mask=inside)


@kernel
def rwkv_join_kernel(partial, out, parts, d, PARTS: tl.constexpr, BLOCK_D: tl.constexpr):
    column = tl.program_id(0) * BLOCK_D + tl.arange(0, BLOCK_D)
    part = tl.arange(0, PARTS)
    mask = (part < parts)[:, None] & (column < d)[None, :]
    values = tl.load(partial + part[:, None] * d + column[None, :], mask=mask, other=0.0)
    tl.store(out + column, tl.sum(values, axis=0), mask=column < d)


@torch.library.custom_op(
    "flag_gems_python::rwkv_mm_sparsity", mutates_args=(), schema="(Tensor k, Tensor v) -> Tensor"
)
def _rwkv_mm_sparsity(k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    ledger.record("rwkv_mm_sparsity", "gems")
    n, d = v.shape
    if not n or not d:
        return torch.zeros(d, dtype=v.dtype, device=v.device)
    if v.stride(1) != 1 and d != 1:
        v = v.contiguous()
    on_cpu = device.name == "cpu"
    block_n, block_d = 16 if on_cpu else 32, 256
    parts = 1 if on_cpu else min(triton.cdiv(n, _ROWS), _MOST_PARTS)
    rows = triton.cdiv(triton.cdiv(n, parts), block_n) * block_n
    parts = triton.cdiv(n, rows)
    out = torch.empty(d, dtype=v.dtype, device=v.device)
    # One part needs no second pass.
    partial = out
    if parts > 1:
        partial = torch.empty((parts, d), dtype=dtypes.accumulate(v.dtype), device=v.device)
    rwkv_mm_sparsity_kernel[(triton.cdiv(d, block_d), parts)](
        k,
        v,
        partial,
        n,
        d,
        rows,
        k.stride(0),
        v.stride(0),
        BLOCK_N=block_n,
        BLOCK_D=block_d,
        COMPUTE=dtypes.compute(v.dtype),
        num_warps=4,
    )
    if parts > 1:
        rwkv_join_kernel[(triton.cdiv(d, 32),)](
            partial, out, parts, d, PARTS=triton.next_power_of_2(parts), BLOCK_D=32, num_warps=4
        )
    return out


@_rwkv_mm_sparsity.register_fake
def _(k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return v.new_empty(v.shape[1])


_direct = _rwkv_mm_sparsity._init_fn


def rwkv_mm_sparsity(k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """``k @ v`` that reads only the rows of ``v`` whose factor in ``k`` is not 0.

    Args:
        k: [n], floating, any stride. v: [n, d], of the same dtype.

    Returns:
        [d], summed in float32 (float64 for float64) and rounded once; not differentiable. inf and
        NaN in rows under a zero leave no trace, unlike in ``k @ v``.

    Raises:
        ValueError: shapes, dtypes or devices do not fit.
        RuntimeError: an argument requires a gradient.
    """
    if k.dim() != 1 or v.dim() != 2 or k.shape[0] != v.shape[0]:
        raise ValueError(
            f"rwkv_mm_sparsity: k {tuple(k.shape)} must be [n] and v {tuple(v.shape)} [n, d]"
        )
    if not dtypes.is_floating(k.dtype) or k.dtype != v.dtype:
        raise ValueError(
            f"rwkv_mm_sparsity: k is {k.dtype} and v {v.dtype}; they must share a floating dtype"
        )
    reason = memory.limit(k, v)
    if reason is not None:
        raise ValueError(f"rwkv_mm_sparsity: kernels can't read these tensors: {reason}")
    if torch.is_grad_enabled() and (k.requires_grad or v.requires_grad):
        raise RuntimeError("rwkv_mm_sparsity is not differentiable: call it under torch.no_grad()")
    result: torch.Tensor = (_rwkv_mm_sparsity if torch.compiler.is_compiling() else _direct)(k, v)
    return result
