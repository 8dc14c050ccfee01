# SPDX-License-Identifier: Apache-2.0
"""The index of the largest element: the first of equal ones, and the first NaN above all."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from flag_gems.runtime import dtypes, ledger, native, pointwise, torch_device_fn
from flag_gems.runtime.geometry import wrap_dim
from flag_gems.runtime.reduction import Reduction, plan
from flag_gems.runtime.tiling import TILE, next_power_of_2, warps

_NONE = tl.constexpr(1 << 62)


@triton.jit
def _first_of_largest(value, index):
    # A lane whose index is _NONE holds no element. It, and a NaN, repeat the smallest value around.
    used = index != _NONE
    nan = (value != value) & used
    any_nan = tl.max(nan.to(tl.int32), axis=1) != 0
    least = tl.min(value, axis=1)
    largest = tl.max(tl.where(used & (value == value), value, least[:, None]), axis=1)
    match = tl.where(any_nan[:, None], nan, used & (value == largest[:, None]))
    return tl.min(tl.where(match, index, _NONE), axis=1)


@triton.jit
def argmax_kernel(
    x,
    out,
    kept,
    kept_inner,
    kept_outer_step,
    kept_inner_step,
    reduced,
    reduced_inner,
    reduced_outer_step,
    reduced_inner_step,
    chunk,
    COMPUTE: tl.constexpr,
    BLOCK_KEPT: tl.constexpr,
    BLOCK_REDUCED: tl.constexpr,
):
    i = tl.program_id(0).to(tl.int64) * BLOCK_KEPT + tl.arange(0, BLOCK_KEPT)
    split = tl.program_id(1).to(tl.int64)
    lane = tl.arange(0, BLOCK_REDUCED)
    first = split * chunk
    last = tl.minimum(first + chunk, reduced)
    row = x + (i // kept_inner * kept_outer_step + i % kept_inner * kept_inner_step)[:, None]
    best = tl.zeros((BLOCK_KEPT, BLOCK_REDUCED), COMPUTE)
    place = tl.full((BLOCK_KEPT, BLOCK_REDUCED), _NONE, tl.int64)
    for start in range(0, chunk, BLOCK_REDUCED):
        j = first + start + lane
        mask = (i < kept)[:, None] & (j < last)[None, :]
        step = j // reduced_inner * reduced_outer_step + j % reduced_inner * reduced_inner_step
        value = tl.load(row + step[None, :], mask=mask, other=0).to(COMPUTE)
        larger = (value > best) | ((value != value) & (best == best)) | (place == _NONE)
        best = tl.where(larger & mask, value, best)
        place = tl.where(larger & mask, j[None, :], place)
    tl.store(out + split * kept + i, _first_of_largest(best, place), mask=i < kept)


@triton.jit
def argmax_join_kernel(
    x,
    places,
    out,
    kept,
    kept_inner,
    kept_outer_step,
    kept_inner_step,
    reduced_inner,
    reduced_outer_step,
    reduced_inner_step,
    splits,
    COMPUTE: tl.constexpr,
    BLOCK_KEPT: tl.constexpr,
    BLOCK_SPLITS: tl.constexpr,
):
    i = tl.program_id(0).to(tl.int64) * BLOCK_KEPT + tl.arange(0, BLOCK_KEPT)
    split = tl.arange(0, BLOCK_SPLITS).to(tl.int64)
    mask = (i < kept)[:, None] & (split < splits)[None, :]
    row = x + (i // kept_inner * kept_outer_step + i % kept_inner * kept_inner_step)[:, None]
    j = tl.load(places + split[None, :] * kept + i[:, None], mask=mask, other=0)
    step = j // reduced_inner * reduced_outer_step + j % reduced_inner * reduced_inner_step
    value = tl.load(row + step, mask=mask, other=0).to(COMPUTE)
    place = tl.where(mask, j, _NONE)
    tl.store(out + i, _first_of_largest(value, place), mask=i < kept)


def _launch(work: Reduction, out: torch.Tensor) -> None:
    source = work.source
    # Triton's reductions widen small integers; comparing needs one width throughout.
    small = dtypes.is_integral(source.dtype) and source.dtype.itemsize < 4
    compute = tl.int32 if small else dtypes.compute(source.dtype)
    places = out
    if work.splits > 1:
        places = torch.empty((work.splits, work.kept.size), dtype=torch.int64, device=source.device)
    with torch_device_fn.device(source.device):
        argmax_kernel[(triton.cdiv(work.kept.size, work.block_kept), work.splits)](
            source,
            places,
            *work.numbers,
            COMPUTE=compute,
            BLOCK_KEPT=work.block_kept,
            BLOCK_REDUCED=work.block_reduced,
            num_warps=warps(work.block_kept * work.block_reduced),
        )
        if work.splits > 1:
            columns = next_power_of_2(work.splits)
            rows = min(next_power_of_2(work.kept.size), max(TILE // columns, 1))
            kept, reduced = work.kept, work.reduced
            argmax_join_kernel[(triton.cdiv(kept.size, rows),)](
                source,
                places,
                out,
                kept.size,
                kept.inner_size,
                kept.outer[0],
                kept.inner[0],
                reduced.inner_size,
                reduced.outer[0],
                reduced.inner[0],
                work.splits,
                COMPUTE=compute,
                BLOCK_KEPT=rows,
                BLOCK_SPLITS=columns,
                num_warps=warps(rows * columns),
            )


def argmax(input: torch.Tensor, dim: int | None = None, keepdim: bool = False) -> torch.Tensor:
    """The index of the largest element along ``dim``, or in the flattened tensor without it.

    Args:
        input: floating or integral, any shape and strides; other dtypes go to torch, which raises.
        dim: one dimension; None means all.
        keepdim: keep the reduced dimensions with size 1.

    Returns:
        int64 indices. The first of equal elements wins, and the first NaN wins over everything.

    Raises:
        IndexError, RuntimeError: whatever torch raises for a bad dim, dtype or nothing to choose
            from.
    """
    rank = input.dim()
    wrapped = None if dim is None else wrap_dim(dim, rank)
    reason = pointwise.limit(input) or ("dtype torch.bool" if input.dtype is torch.bool else None)
    if dim is not None and wrapped is None:
        reason = "dim out of range"
    elif not input.numel() and (wrapped is None or input.shape[wrapped] == 0):
        reason = "nothing to choose from"
    if reason is not None:
        return native.call("argmax", reason, input, dim, keepdim)
    ledger.record("argmax", "gems")
    dims = tuple(range(rank)) if wrapped is None or rank == 0 else (wrapped,)
    kept = [size for index, size in enumerate(input.shape) if index not in dims]
    out = torch.empty(kept, dtype=torch.int64, device=input.device)
    if out.numel():
        _launch(plan(input, dims), out)
    if keepdim:
        out = out.view([1 if index in dims else size for index, size in enumerate(input.shape)])
    return out
