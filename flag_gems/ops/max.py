# SPDX-License-Identifier: Apache-2.0
"""The largest and the smallest element: its value, its place, or both.

A NaN counts as the extreme; of equal elements the first one's place counts.
"""

from __future__ import annotations

import torch
from torch.return_types import max as MaxResult
from torch.return_types import min as MinResult

from flag_gems.runtime import ledger, native, pointwise
from flag_gems.runtime.geometry import wrap_dim
from flag_gems.runtime.reductions import Extreme, Reduction
from flag_gems.runtime.reductions.dims import Dims, result_shape


def _least(dtype: torch.dtype) -> int | float:
    return -float("inf") if dtype.is_floating_point else torch.iinfo(dtype).min


def _most(dtype: torch.dtype) -> int | float:
    return float("inf") if dtype.is_floating_point else torch.iinfo(dtype).max


_MAX = Reduction("max", identity=_least, result=lambda dtype: dtype)
_MIN = Reduction("min", identity=_most, result=lambda dtype: dtype)
_LARGEST = Extreme(largest=True)
_SMALLEST = Extreme(largest=False)


def amax(input: torch.Tensor, dim: Dims = (), keepdim: bool = False) -> torch.Tensor:
    """The largest element along dimensions; all of them for an empty list.

    Raises:
        IndexError, RuntimeError: whatever torch raises for a bad dim or nothing to choose from.
    """
    axes = [dim] if isinstance(dim, int) else list(dim or ())
    return _MAX("amax", input, axes, keepdim, handed=((axes, keepdim), {}))


def amax_out(
    input: torch.Tensor, dim: Dims = (), keepdim: bool = False, *, out: torch.Tensor
) -> torch.Tensor:
    """:func:`amax` into ``out``, resized where its shape differs."""
    axes = [dim] if isinstance(dim, int) else list(dim or ())
    return _MAX("amax.out", input, axes, keepdim, out=out, handed=((axes, keepdim), {"out": out}))


def amin(input: torch.Tensor, dim: Dims = (), keepdim: bool = False) -> torch.Tensor:
    """The smallest element along dimensions; see :func:`amax`."""
    axes = [dim] if isinstance(dim, int) else list(dim or ())
    return _MIN("amin", input, axes, keepdim, handed=((axes, keepdim), {}))


def amin_out(
    input: torch.Tensor, dim: Dims = (), keepdim: bool = False, *, out: torch.Tensor
) -> torch.Tensor:
    """:func:`amin` into ``out``, resized where its shape differs."""
    axes = [dim] if isinstance(dim, int) else list(dim or ())
    return _MIN("amin.out", input, axes, keepdim, out=out, handed=((axes, keepdim), {"out": out}))


def _place(
    key: str, extreme: Extreme, input: torch.Tensor, dim: int | None, keepdim: bool
) -> torch.Tensor:
    rank = input.dim()
    wrapped = None if dim is None else wrap_dim(dim, rank)
    reason = pointwise.limit(input) or ("dtype torch.bool" if input.dtype is torch.bool else None)
    if dim is not None and wrapped is None:
        reason = "dim out of range"
    elif not input.numel() and (wrapped is None or input.shape[wrapped] == 0):
        reason = "nothing to choose from"
    if reason is not None:
        return native.call(key, reason, input, dim, keepdim)
    ledger.record(key, "gems")
    dims = tuple(range(rank)) if wrapped is None or rank == 0 else (wrapped,)
    places = torch.empty(
        result_shape(input.shape, dims, keepdim), dtype=torch.int64, device=input.device
    )
    if places.numel():
        extreme.find(input, dims, places)
    return places


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
    return _place("argmax", _LARGEST, input, dim, keepdim)


def argmin(input: torch.Tensor, dim: int | None = None, keepdim: bool = False) -> torch.Tensor:
    """The index of the smallest element; see :func:`argmax`."""
    return _place("argmin", _SMALLEST, input, dim, keepdim)


def _both(
    key: str, extreme: Extreme, input: torch.Tensor, dim: int, keepdim: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    wrapped = wrap_dim(dim, input.dim())
    reason = pointwise.limit(input)
    if wrapped is None:
        reason = "dim out of range"
    elif input.dim() and not input.shape[wrapped]:
        reason = "nothing to choose from"
    if wrapped is None or reason is not None:
        values, places = native.call(key, str(reason), input, dim, keepdim)
        return values, places
    ledger.record(key, "gems")
    dims = (wrapped,) if input.dim() else ()
    shape = result_shape(input.shape, dims, keepdim)
    values = torch.empty(shape, dtype=input.dtype, device=input.device)
    places = torch.empty(shape, dtype=torch.int64, device=input.device)
    if values.numel():
        extreme.find(input, dims, places, values)
    return values, places


def max_dim(
    input: torch.Tensor, dim: int, keepdim: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """ATen's ``max.dim``: the largest elements along ``dim`` and their indices.

    Raises:
        IndexError, RuntimeError: whatever torch raises for a bad dim or nothing to choose from.
    """
    return MaxResult(_both("max.dim", _LARGEST, input, dim, keepdim))


def min_dim(
    input: torch.Tensor, dim: int, keepdim: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """ATen's ``min.dim``; see :func:`max_dim`."""
    return MinResult(_both("min.dim", _SMALLEST, input, dim, keepdim))


def max(
    input: torch.Tensor, dim: int | None = None, keepdim: bool = False
) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
    """The largest element, or along ``dim`` the largest elements and their indices.

    Raises:
        IndexError, RuntimeError: whatever torch raises for a bad dim or nothing to choose from.
    """
    if dim is not None:
        return max_dim(input, dim, keepdim)
    return _MAX("max", input)


def min(
    input: torch.Tensor, dim: int | None = None, keepdim: bool = False
) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
    """The smallest element, or along ``dim`` the smallest elements and their indices."""
    if dim is not None:
        return min_dim(input, dim, keepdim)
    return _MIN("min", input)
