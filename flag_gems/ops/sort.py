# SPDX-License-Identifier: Apache-2.0
"""Sorting along a dimension, always stable: equal elements keep their order.

A NaN is above everything, -0 equals 0, as in torch.
"""

from __future__ import annotations

import torch
import triton
from torch.return_types import sort as SortResult

from flag_gems.ops import sort_kernels as kernels
from flag_gems.runtime import device, interpreted, ledger, native, pointwise
from flag_gems.runtime.geometry import wrap_dim
from flag_gems.runtime.memory import resize_out
from flag_gems.runtime.ordering import key_dtype, numbers
from flag_gems.runtime.scan import exclusive
from flag_gems.runtime.tiling import warps

SERIAL: bool = device.name == "cpu" and not interpreted
"""Whether a row is one program's serial work."""

WIDEST_NETWORK = 2048
"""Longest row that one program sorts whole on a GPU."""

_TILE = 2048


def limit(input: torch.Tensor, dim: int) -> str | None:
    """Why ``input`` can't be sorted by these kernels, or None."""
    reason = pointwise.limit(input)
    if reason is None and wrap_dim(dim, input.dim()) is None:
        reason = "dim out of range"
    return reason


def rows_of(input: torch.Tensor, dim: int) -> torch.Tensor:
    """The elements along ``dim`` as contiguous rows [R, N], in a dtype that has keys."""
    if not input.dim():
        return numbers(input.reshape(1, 1).contiguous())
    last = input.movedim(dim, -1).contiguous()
    return numbers(last.reshape(-1, last.shape[-1]))


def rows_for(out: torch.Tensor, dim: int) -> torch.Tensor:
    """Contiguous rows [R, N] for what goes along ``dim`` of ``out``: its own where it has them."""
    plain = numbers(out)
    if not out.dim() or (out.is_contiguous() and dim == out.dim() - 1):
        return plain.view(-1, out.shape[dim] if out.dim() else 1)
    return plain.new_empty((out.numel() // out.shape[dim], out.shape[dim]))


def put(rows: torch.Tensor, out: torch.Tensor, dim: int) -> None:
    """Copies rows of :func:`rows_for` to their places in ``out``, if they are not there."""
    if rows.data_ptr() != out.data_ptr():
        moved = numbers(out).movedim(dim, -1)
        moved.copy_(rows.view(moved.shape))


def sort_rows(
    rows: torch.Tensor, values: torch.Tensor, indices: torch.Tensor, descending: bool
) -> None:
    """Writes sorted values and int64 places of contiguous rows [R, N] that are not empty."""
    n = rows.shape[1]
    if SERIAL:
        _serially(rows, values, indices, descending)
    elif n <= WIDEST_NETWORK and rows.itemsize <= 4:
        sort_tiles(rows, values, indices, descending)
    else:
        _by_digits(rows, values, indices, descending)


def sort_tiles(
    rows: torch.Tensor, values: torch.Tensor, indices: torch.Tensor, descending: bool
) -> None:
    """Short rows, each by one program; as many elements as ``values`` has columns are written."""
    count, n = rows.shape
    block = triton.next_power_of_2(n)
    kernels.tile_kernel[(count,)](
        rows, values, indices, n, values.shape[1],
        DESCENDING=descending, BLOCK=block, num_warps=warps(block),
    )  # fmt: skip


def place_dtype(n: int) -> torch.dtype:
    """What counts ``n`` elements."""
    return torch.int32 if n < 1 << 31 else torch.int64


def _serially(
    rows: torch.Tensor, values: torch.Tensor, indices: torch.Tensor, descending: bool
) -> None:
    count, n = rows.shape
    passes = rows.itemsize
    place = rows.device
    keys = torch.empty((count, 2, n), dtype=key_dtype(rows.dtype), device=place)
    order = torch.empty((count, 2, n), dtype=place_dtype(n), device=place)
    counts = torch.empty((count, passes, 256), dtype=torch.int32, device=place)
    kernels.row_kernel[(count,)](
        rows, values, indices, keys, order, counts, n,
        DESCENDING=descending, PASSES=passes, BLOCK=256,
    )  # fmt: skip


def _by_digits(
    rows: torch.Tensor, values: torch.Tensor, indices: torch.Tensor, descending: bool
) -> None:
    count, n = rows.shape
    total = count * n
    tiles = triton.cdiv(n, _TILE)
    grid = (tiles, count)
    keys = torch.empty((count, n), dtype=key_dtype(rows.dtype), device=rows.device)
    order = torch.empty((count, n), dtype=place_dtype(n), device=rows.device)
    next_keys, next_order = torch.empty_like(keys), torch.empty_like(order)
    counts = torch.empty((count, 256 * tiles), dtype=torch.int32, device=rows.device)
    flat = (triton.cdiv(total, _TILE),)
    wide = warps(_TILE)
    kernels.encode_kernel[flat](
        rows, keys, total, DESCENDING=descending, BLOCK=_TILE, num_warps=wide
    )
    for shift in range(0, 8 * rows.itemsize, 8):
        kernels.count_kernel[grid](keys, counts, n, tiles, shift, BLOCK=_TILE, num_warps=wide)
        offsets, _ = exclusive(counts, order.dtype)
        kernels.scatter_kernel[grid](
            keys, order, offsets, next_keys, next_order, n, tiles, shift,
            FIRST=shift == 0, BLOCK=_TILE, num_warps=wide,
        )  # fmt: skip
        keys, next_keys = next_keys, keys
        order, next_order = next_order, order
    kernels.take_kernel[flat](rows, order, values, indices, n, total, BLOCK=_TILE, num_warps=wide)


def _sort(input: torch.Tensor, dim: int, descending: bool) -> tuple[torch.Tensor, torch.Tensor]:
    place = wrap_dim(dim, input.dim())
    assert place is not None
    values = torch.empty_like(input)
    indices = torch.empty_like(input, dtype=torch.int64)
    if input.numel():
        kept, places = rows_for(values, place), rows_for(indices, place)
        sort_rows(rows_of(input, place), kept, places, descending)
        put(kept, values, place)
        put(places, indices, place)
    return values, indices


def sort_stable(
    input: torch.Tensor, *, stable: bool | None = None, dim: int = -1, descending: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """ATen's ``sort.stable``; the kernels are stable whatever ``stable`` says.

    Raises:
        IndexError, RuntimeError: whatever torch raises for a bad dim or dtype.
    """
    reason = limit(input, dim)
    if reason is not None:
        values, indices = native.call(
            "sort.stable", reason, input, stable=stable, dim=dim, descending=descending
        )
        return SortResult((values, indices))
    ledger.record("sort.stable", "gems")
    return SortResult(_sort(input, dim, descending))


def sort(
    input: torch.Tensor, dim: int = -1, descending: bool = False, stable: bool = True
) -> tuple[torch.Tensor, torch.Tensor]:
    """The elements along ``dim`` in order, and their int64 places.

    Args:
        input: real, any shape and strides; other dtypes go to torch, which raises.
        descending: the largest first; equal elements keep their order all the same.
        stable: accepted as torch accepts it; results are stable in any case.

    Raises:
        IndexError, RuntimeError: whatever torch raises for a bad dim or dtype.
    """
    reason = limit(input, dim)
    if reason is not None:
        values, indices = native.call("sort", reason, input, dim, descending)
        return SortResult((values, indices))
    ledger.record("sort", "gems")
    return SortResult(_sort(input, dim, descending))


def sort_out(
    input: torch.Tensor,
    *,
    stable: bool | None = None,
    dim: int = -1,
    descending: bool = False,
    values: torch.Tensor,
    indices: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    """:func:`sort` into ``values`` and ``indices``, resized where their shapes differ."""
    reason = limit(input, dim) or out_limit(input, values, indices)
    if reason is not None:
        native.call(
            "sort.values_stable", reason, input, stable=stable, dim=dim, descending=descending,
            values=values, indices=indices,
        )  # fmt: skip
        return values, indices
    ledger.record("sort.values_stable", "gems")
    for out, result in zip((values, indices), _sort(input, dim, descending), strict=True):
        resize_out(out, result.shape).copy_(result)
    return values, indices


def out_limit(input: torch.Tensor, values: torch.Tensor, indices: torch.Tensor) -> str | None:
    """Why results can't go into these tensors, or None."""
    if values.dtype is not input.dtype or indices.dtype is not torch.int64:
        return "out of another kind"
    reason = pointwise.write_limit(values, [], values.dtype, False)
    return reason or pointwise.write_limit(indices, [], indices.dtype, False)


def argsort(
    input: torch.Tensor, dim: int = -1, descending: bool = False, stable: bool = True
) -> torch.Tensor:
    """The places of :func:`sort`."""
    return sort(input, dim, descending, stable)[1]
