# SPDX-License-Identifier: Apache-2.0
"""Rows of a table by their numbers, and the gradient of the table."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from flag_gems.runtime import device, dtypes, ledger, memory, native
from flag_gems.runtime.launcher import kernel
from flag_gems.runtime.tiling import TILE, next_power_of_2, warps

_COLUMNS = 2048
"""Columns of a tile at most: 16 bytes of a half type for each of 256 threads."""


@kernel
def embedding_kernel(
    weight, indices, out, count, rows, columns, step, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr
):  # fmt: skip
    """Numbers outside the table give 0; on a GPU nobody looks for them in time to raise."""
    i = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    column = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    row = tl.load(indices + i, mask=i < count, other=0).to(tl.int64)
    inside = (i < count)[:, None] & (column < columns)[None, :]
    there = ((row >= 0) & (row < rows))[:, None]
    value = tl.load(weight + row[:, None] * step + column[None, :], mask=inside & there, other=0)
    tl.store(out + i[:, None] * columns + column[None, :], value, mask=inside)


@kernel
def embedding_backward_kernel(
    grad, indices, counts, out, count, rows, columns, padding,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    column = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    row = tl.load(indices + i, mask=i < count, other=-1).to(tl.int64)
    used = (i < count) & (row >= 0) & (row < rows) & (row != padding)
    mask = used[:, None] & (column < columns)[None, :]
    slope = tl.load(grad + i[:, None] * columns + column[None, :], mask=mask, other=0)
    slope = slope.to(out.dtype.element_ty)
    if counts is not None:
        often = tl.load(counts + row, mask=used, other=1).to(out.dtype.element_ty)
        slope = slope / often[:, None]
    tl.atomic_add(out + row[:, None] * columns + column[None, :], slope, mask=mask, sem="relaxed")


def _limit(table: torch.Tensor, indices: torch.Tensor, rows: int) -> str | None:
    reason = memory.limit(table, indices)
    if reason is None and not dtypes.is_floating(table.dtype):
        reason = f"dtype {table.dtype}"
    if reason is None and indices.dtype not in (torch.int32, torch.int64):
        reason = f"indices of {indices.dtype}"
    # A look at numbers on the CPU costs no synchronisation; torch raises for a wrong one.
    if reason is None and device.name == "cpu" and indices.numel():
        least, most = indices.aminmax()
        reason = "index out of range" if least < 0 or most >= rows else None
    return reason


def _blocks(count: int, columns: int) -> tuple[int, int, tuple[int, int]]:
    block_n = min(next_power_of_2(columns), _COLUMNS)
    block_m = min(next_power_of_2(count), max(TILE // block_n, 1))
    return block_m, block_n, (triton.cdiv(count, block_m), triton.cdiv(columns, block_n))


def embedding(
    weight: torch.Tensor,
    indices: torch.Tensor,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> torch.Tensor:
    """``weight[indices]``: [*indices.shape, columns].

    Args:
        weight: [rows, columns], floating; other dtypes go to torch.
        indices: int32 or int64, any shape. On the CPU one outside the table raises; on a GPU it
            gives 0, where torch stops the device.
        padding_idx, scale_grad_by_freq, sparse: matter to the gradient alone.

    Raises:
        IndexError, RuntimeError: whatever torch raises for tensors that do not fit together.
    """
    reason = "shapes" if weight.dim() != 2 else _limit(weight, indices, weight.shape[0])
    if reason is not None:
        return native.call(
            "embedding", reason, weight, indices, padding_idx, scale_grad_by_freq, sparse
        )
    ledger.record("embedding", "gems")
    rows, columns = weight.shape
    if weight.stride(1) != 1:
        weight = weight.contiguous()
    indices = indices.contiguous()
    out = torch.empty((*indices.shape, columns), dtype=weight.dtype, device=weight.device)
    if out.numel():
        block_m, block_n, grid = _blocks(indices.numel(), columns)
        embedding_kernel[grid](
            weight, indices, out, indices.numel(), rows, columns, weight.stride(0),
            BLOCK_M=block_m, BLOCK_N=block_n, num_warps=warps(block_m * block_n),
        )  # fmt: skip
    return out


def embedding_dense_backward(
    grad_output: torch.Tensor,
    indices: torch.Tensor,
    num_weights: int,
    padding_idx: int,
    scale_grad_by_freq: bool,
) -> torch.Tensor:
    """Gradient of the table: rows of ``grad_output`` added up where their index points.

    Args:
        grad_output: [*indices.shape, columns].
        num_weights: rows of the table.
        padding_idx: a row that gets no gradient; -1 for none.
        scale_grad_by_freq: divide by how often an index occurs.

    Half types are added up in float32. The order is that of the threads; where deterministic
    algorithms are asked for torch's kernel runs.

    Raises:
        IndexError, RuntimeError: whatever torch raises for tensors that do not fit together.
    """
    reason = _limit(grad_output, indices, num_weights)
    if reason is None and grad_output.shape[: indices.dim()] != indices.shape:
        reason = "shapes"
    if reason is None and torch.are_deterministic_algorithms_enabled():
        reason = "deterministic algorithms"
    if reason is not None:
        return native.call(
            "embedding_dense_backward",
            reason,
            grad_output,
            indices,
            num_weights,
            padding_idx,
            scale_grad_by_freq,
        )
    ledger.record("embedding_dense_backward", "gems")
    columns = grad_output.shape[-1]
    wide = dtypes.accumulate(grad_output.dtype)
    total = torch.zeros((num_weights, columns), dtype=wide, device=grad_output.device)
    grad, indices = grad_output.contiguous(), indices.contiguous()
    counts = (
        torch.bincount(indices.flatten(), minlength=num_weights) if scale_grad_by_freq else None
    )
    if grad.numel():
        block_m, block_n, grid = _blocks(indices.numel(), columns)
        embedding_backward_kernel[grid](
            grad, indices, counts, total, indices.numel(), num_weights, columns, padding_idx,
            BLOCK_M=block_m, BLOCK_N=block_n, num_warps=warps(block_m * block_n),
        )  # fmt: skip
    return total.to(grad_output.dtype)
