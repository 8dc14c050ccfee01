# SPDX-License-Identifier: Apache-2.0
"""The sum of all elements or along dimensions."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import triton
import triton.language as tl

from flag_gems.runtime import dtypes, ledger, native, pointwise, torch_device_fn
from flag_gems.runtime.geometry import wrap_dim
from flag_gems.runtime.reduction import Reduction, plan
from flag_gems.runtime.tiling import warps


@triton.jit
def sum_kernel(
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
    ACCUMULATE: tl.constexpr,
    BLOCK_KEPT: tl.constexpr,
    BLOCK_REDUCED: tl.constexpr,
):
    i = tl.program_id(0).to(tl.int64) * BLOCK_KEPT + tl.arange(0, BLOCK_KEPT)
    split = tl.program_id(1).to(tl.int64)
    lane = tl.arange(0, BLOCK_REDUCED)
    first = split * chunk
    last = tl.minimum(first + chunk, reduced)
    row = x + (i // kept_inner * kept_outer_step + i % kept_inner * kept_inner_step)[:, None]
    total = tl.zeros((BLOCK_KEPT, BLOCK_REDUCED), ACCUMULATE)
    for start in range(0, chunk, BLOCK_REDUCED):
        j = first + start + lane
        mask = (i < kept)[:, None] & (j < last)[None, :]
        step = j // reduced_inner * reduced_outer_step + j % reduced_inner * reduced_inner_step
        total += tl.load(row + step[None, :], mask=mask, other=0).to(ACCUMULATE)
    tl.store(out + split * kept + i, tl.sum(total, axis=1), mask=i < kept)


def _launch(work: Reduction, out: torch.Tensor, accumulate: tl.dtype) -> None:
    with torch_device_fn.device(out.device):
        sum_kernel[(triton.cdiv(work.kept.size, work.block_kept), work.splits)](
            work.source,
            out,
            *work.numbers,
            ACCUMULATE=accumulate,
            BLOCK_KEPT=work.block_kept,
            BLOCK_REDUCED=work.block_reduced,
            num_warps=warps(work.block_kept * work.block_reduced),
        )


def _reduce(source: torch.Tensor, dims: tuple[int, ...], out: torch.Tensor) -> None:
    """Sums ``source`` over ``dims`` into a contiguous ``out`` of the kept shape."""
    accumulate_dtype = {
        torch.float16: torch.float32,
        torch.bfloat16: torch.float32,
    }.get(out.dtype, out.dtype)
    accumulate = dtypes.compute(out.dtype)
    work = plan(source, dims)
    if work.splits == 1:
        _launch(work, out, accumulate)
        return
    partial = torch.empty(
        (work.splits, work.kept.size), dtype=accumulate_dtype, device=source.device
    )
    _launch(work, partial, accumulate)
    _reduce(partial, (0,), out)


def _limit(input: torch.Tensor, dtype: torch.dtype) -> str | None:
    reason = pointwise.limit(input)
    if reason is None and not (dtypes.is_floating(dtype) or dtypes.is_integral(dtype)):
        return f"dtype {dtype}"
    return reason


def sum(
    input: torch.Tensor,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """The sum of all elements or, with ``dim``, along dimensions; forward only.

    Args:
        input: any real dtype, shape and strides; complex numbers go to torch.
        dim: one or several dimensions; None or an empty list means all.
        keepdim: keep them with size 1.
        dtype: dtype of the result; by default int64 for integers and bool, else that of ``input``.

    float16 and bfloat16 are summed in float32. Nothing to sum gives 0.

    Raises:
        IndexError, RuntimeError: whatever torch raises for a bad dim or dtype.
    """
    if dim is None:
        out_dtype = _result_dtype(input, dtype)
        reason = _limit(input, out_dtype)
        if reason is not None and not keepdim:
            return native.call("sum", reason, input, dtype=dtype)
    return sum_dim(input, dim, keepdim, dtype=dtype)


def sum_dim(
    input: torch.Tensor,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """ATen's ``sum.dim_IntList``; see :func:`sum`.

    Raises:
        IndexError, RuntimeError: whatever torch raises for a bad dim or dtype.
    """
    out_dtype = _result_dtype(input, dtype)
    given = (dim,) if isinstance(dim, int) else tuple(dim) if dim is not None else ()
    wrapped = [wrap_dim(one, input.dim()) for one in given]
    dims = tuple(sorted(one for one in wrapped if one is not None)) or tuple(range(input.dim()))
    if input.dim() == 0:
        dims = ()
    reason = _limit(input, out_dtype)
    if None in wrapped or len(set(wrapped)) != len(wrapped):
        reason = "dims"
    if reason is not None:
        axes = None if dim is None else list(given)
        return native.call("sum.dim_IntList", reason, input, axes, keepdim, dtype=dtype)
    ledger.record("sum" if dim is None else "sum.dim_IntList", "gems")
    kept = [size for index, size in enumerate(input.shape) if index not in dims]
    out = torch.empty(kept, dtype=out_dtype, device=input.device)
    if not input.numel():
        out.zero_()
    elif out.numel():
        _reduce(input, dims, out)
    if keepdim:
        out = out.view([1 if index in dims else n for index, n in enumerate(input.shape)])
    return out


def _result_dtype(input: torch.Tensor, dtype: torch.dtype | None) -> torch.dtype:
    if dtype is not None:
        return dtype
    counted = dtypes.is_integral(input.dtype) or input.dtype is torch.bool
    return torch.int64 if counted else input.dtype
