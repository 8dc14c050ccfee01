# SPDX-License-Identifier: Apache-2.0
"""Residual addition and RMS normalisation in one pass over memory, both in place."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
import triton
import triton.language as tl

from flag_gems.runtime import dtypes, ledger, memory
from flag_gems.runtime.launcher import kernel
from flag_gems.runtime.tiling import stream_tile


@kernel
def fused_add_rms_norm_kernel(
    x,
    residual,
    weight,
    rows,
    columns,
    x_row,
    residual_row,
    eps: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    WHOLE: tl.constexpr,
    COMPUTE: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    lane = tl.arange(0, BLOCK_N)
    valid = (row < rows)[:, None]
    x += (row * x_row)[:, None]
    residual += (row * residual_row)[:, None]
    if WHOLE:
        inside = lane < columns
        mask = valid & inside[None, :]
        total = tl.load(x + lane[None, :], mask=mask, other=0.0).to(COMPUTE)
        total += tl.load(residual + lane[None, :], mask=mask, other=0.0).to(COMPUTE)
        factor = tl.load(weight + lane, mask=inside, other=0.0).to(COMPUTE)
        tl.store(residual + lane[None, :], total, mask=mask)
        scale = 1.0 / tl.sqrt(tl.sum(total * total, axis=1) / columns + eps)
        tl.store(x + lane[None, :], total * scale[:, None] * factor[None, :], mask=mask)
    else:
        squares = tl.zeros((BLOCK_M, BLOCK_N), COMPUTE)
        for start in range(0, columns, BLOCK_N):
            column = start + lane
            mask = valid & (column < columns)[None, :]
            total = tl.load(x + column[None, :], mask=mask, other=0.0).to(COMPUTE)
            total += tl.load(residual + column[None, :], mask=mask, other=0.0).to(COMPUTE)
            squares += total * total
        scale = 1.0 / tl.sqrt(tl.sum(squares, axis=1) / columns + eps)
        # The sum is made again: what is stored may be rounded, and a store and a load of the same
        # place by different threads would need a barrier.
        for start in range(0, columns, BLOCK_N):
            column = start + lane
            inside = column < columns
            mask = valid & inside[None, :]
            total = tl.load(x + column[None, :], mask=mask, other=0.0).to(COMPUTE)
            total += tl.load(residual + column[None, :], mask=mask, other=0.0).to(COMPUTE)
            factor = tl.load(weight + column, mask=inside, other=0.0).to(COMPUTE)
            tl.store(residual + column[None, :], total, mask=mask)
            result = total * scale[:, None] * factor[None, :]
            tl.store(x + column[None, :], result, mask=mask)


def _rows(tensor: torch.Tensor, columns: int) -> torch.Tensor | None:
    """The tensor as [rows, columns] without a copy, or None."""
    try:
        view = tensor.view(-1, columns)
    except RuntimeError:
        return None
    return view if view.stride(1) == 1 or columns == 1 else None


@torch.library.custom_op(
    "flag_gems_python::fused_add_rms_norm",
    mutates_args=("x", "residual"),
    schema="(Tensor(a!) x, Tensor(b!) residual, Tensor weight, int columns, float eps) -> ()",
)
def _fused_add_rms_norm(
    x: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor, columns: int, eps: float
) -> None:
    ledger.record("fused_add_rms_norm", "gems")
    if not x.numel():
        return
    x_rows, residual_rows = _rows(x, columns), _rows(residual, columns)
    if x_rows is None or residual_rows is None:
        # Strides of which no matrix can be made: the kernel works on copies.
        x_copy, residual_copy = x.contiguous(), residual.contiguous()
        _fused_rows(x_copy.view(-1, columns), residual_copy.view(-1, columns), weight, eps)
        x.copy_(x_copy)
        residual.copy_(residual_copy)
    else:
        _fused_rows(x_rows, residual_rows, weight, eps)


def _fused_rows(x: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor, eps: float) -> None:
    rows, columns = x.shape
    block_m, block_n, num_warps = stream_tile(rows, columns, x.element_size())
    fused_add_rms_norm_kernel[(triton.cdiv(rows, block_m),)](
        x,
        residual,
        weight,
        rows,
        columns,
        x.stride(0),
        residual.stride(0),
        float(eps),
        BLOCK_M=block_m,
        BLOCK_N=block_n,
        WHOLE=block_n >= columns,
        COMPUTE=dtypes.compute(torch.promote_types(x.dtype, residual.dtype)),
        num_warps=num_warps,
    )


_direct = _fused_add_rms_norm._init_fn


def fused_add_rms_norm(
    x: torch.Tensor,
    residual: torch.Tensor,
    normalized_shape: int | Sequence[int],
    weight: torch.Tensor,
    eps: float = 1e-5,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Adds ``x`` to ``residual`` and makes ``x`` the RMS normalisation of the sum, in place.

    Args:
        x, residual: [..., *normalized_shape], floating, any strides; they share no memory.
        weight: shape ``normalized_shape``.
        eps: added to the mean of squares.

    Returns:
        ``(x, residual)``, the arguments themselves. The normalisation takes the sum before it is
        rounded to the dtype of ``residual``.

    Raises:
        ValueError: shapes or devices do not fit.
        TypeError: a dtype is not floating.
        RuntimeError: ``x`` or ``residual`` requires a gradient; both are overwritten.
    """
    shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
    if not shape or tuple(x.shape[-len(shape) :]) != shape or tuple(weight.shape) != shape:
        raise ValueError(
            f"fused_add_rms_norm: x {tuple(x.shape)} and weight {tuple(weight.shape)} do not fit "
            f"normalized_shape {shape}"
        )
    if x.shape != residual.shape:
        raise ValueError(
            f"fused_add_rms_norm: x {tuple(x.shape)} and residual {tuple(residual.shape)} differ"
        )
    for name, tensor in (("x", x), ("residual", residual), ("weight", weight)):
        if not dtypes.is_floating(tensor.dtype):
            raise TypeError(f"fused_add_rms_norm: {name} is {tensor.dtype}, not a floating dtype")
    if torch.is_grad_enabled() and (x.requires_grad or residual.requires_grad):
        raise RuntimeError(
            "fused_add_rms_norm overwrites x and residual and is not differentiable: add them and "
            "call rms_norm"
        )
    reason = memory.limit(x, residual, weight)
    if reason is not None:
        raise ValueError(f"fused_add_rms_norm: kernels can't read these tensors: {reason}")
    call = _fused_add_rms_norm if torch.compiler.is_compiling() else _direct
    call(x, residual, weight.contiguous(), math.prod(shape), float(eps))
    return x, residual
