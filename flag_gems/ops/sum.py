# SPDX-License-Identifier: Apache-2.0
"""Sum, mean and product of all elements or along dimensions."""

from __future__ import annotations

from typing import Any

import torch

from flag_gems.runtime import dtypes
from flag_gems.runtime.reductions import Reduction
from flag_gems.runtime.reductions.dims import Dims


def _counted(dtype: torch.dtype) -> torch.dtype:
    """Integers and bool are summed in int64."""
    return torch.int64 if dtypes.is_integral(dtype) or dtype is torch.bool else dtype


def _sum_limit(source: torch.dtype, result: torch.dtype) -> str | None:
    if result is torch.bool:
        return "dtype torch.bool"
    whole = dtypes.is_integral(result) and not dtypes.is_integral(source)
    return f"{source} to {result}" if whole and source.is_floating_point else None


def _mean_limit(source: torch.dtype, result: torch.dtype) -> str | None:
    return None if result.is_floating_point else f"dtype {result}"


_SUM = Reduction("sum", identity=lambda dtype: 0, result=_counted, empty=0, limit=_sum_limit)
_MEAN = Reduction(
    "sum",
    identity=lambda dtype: 0,
    result=lambda dtype: dtype,
    mean=True,
    empty=float("nan"),
    limit=_mean_limit,
)
_PROD = Reduction("prod", identity=lambda dtype: 1, result=_counted, empty=1, limit=_sum_limit)


def _axes(dim: Dims) -> Any:
    return [dim] if isinstance(dim, int) else dim


def sum(
    input: torch.Tensor,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """The sum of all elements or, with ``dim``, along dimensions.

    Args:
        input: any real dtype, shape and strides; complex numbers go to torch.
        dim: one or several dimensions; None or an empty list means all.
        keepdim: keep them with size 1.
        dtype: dtype of the result; by default int64 for integers and bool, else that of ``input``.

    float16 and bfloat16 are summed in float32. Nothing to sum gives 0.

    Raises:
        IndexError, RuntimeError: whatever torch raises for a bad dim or dtype.
    """
    if dim is None and not keepdim:
        return _SUM("sum", input, dtype=dtype, handed=((), {"dtype": dtype}))
    return sum_dim(input, dim, keepdim, dtype=dtype)


def sum_dim(
    input: torch.Tensor,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """ATen's ``sum.dim_IntList``; see :func:`sum`."""
    handed = ((_axes(dim), keepdim), {"dtype": dtype})
    return _SUM("sum.dim_IntList", input, dim, keepdim, dtype=dtype, handed=handed)


def sum_out(
    input: torch.Tensor,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: torch.dtype | None = None,
    out: torch.Tensor,
) -> torch.Tensor:
    """:func:`sum` along dimensions into ``out``, resized where its shape differs."""
    handed = ((_axes(dim), keepdim), {"dtype": dtype, "out": out})
    wanted = dtype or out.dtype
    return _SUM("sum.IntList_out", input, dim, keepdim, dtype=wanted, out=out, handed=handed)


def mean(
    input: torch.Tensor,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """The mean of all elements or along dimensions, of floating dtypes; NaN of nothing.

    Arguments as for :func:`sum`; integers need a floating ``dtype``.

    Raises:
        IndexError, RuntimeError: whatever torch raises for a bad dim or dtype.
    """
    if dim is None and not keepdim:
        return _MEAN("mean", input, dtype=dtype, handed=((), {"dtype": dtype}))
    return mean_dim(input, dim, keepdim, dtype=dtype)


def mean_dim(
    input: torch.Tensor,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """ATen's ``mean.dim``; see :func:`mean`."""
    handed = ((_axes(dim), keepdim), {"dtype": dtype})
    return _MEAN("mean.dim", input, dim, keepdim, dtype=dtype, handed=handed)


def prod(
    input: torch.Tensor,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """The product of all elements or along one dimension; 1 of nothing. See :func:`sum`."""
    if dim is None:
        return _PROD("prod", input, dtype=dtype, handed=((), {"dtype": dtype}))
    return prod_dim(input, dim, keepdim, dtype=dtype)


def prod_dim(
    input: torch.Tensor, dim: int, keepdim: bool = False, *, dtype: torch.dtype | None = None
) -> torch.Tensor:
    """ATen's ``prod.dim_int``; see :func:`prod`."""
    handed = ((dim, keepdim), {"dtype": dtype})
    return _PROD("prod.dim_int", input, dim, keepdim, dtype=dtype, handed=handed)
