# SPDX-License-Identifier: Apache-2.0
"""The k largest or smallest elements along a dimension and their places.

Of equal elements those that come first are taken, and a NaN counts as the largest.
"""

from __future__ import annotations

import torch
import triton
from torch.return_types import topk as TopkResult

from flag_gems.ops import topk_kernels as kernels
from flag_gems.ops.sort import (
    SERIAL,
    WIDEST_NETWORK,
    limit,
    out_limit,
    put,
    rows_for,
    rows_of,
    sort_rows,
    sort_tiles,
)
from flag_gems.ops.sort_kernels import encode_kernel
from flag_gems.runtime import ledger, native
from flag_gems.runtime.geometry import wrap_dim
from flag_gems.runtime.memory import resize_out
from flag_gems.runtime.ordering import key_dtype
from flag_gems.runtime.scan import exclusive
from flag_gems.runtime.tiling import warps

_TILE = 4096


def _limit(input: torch.Tensor, k: int, dim: int) -> str | None:
    reason = limit(input, dim)
    if reason is None and input.dtype is torch.bool:
        reason = "dtype torch.bool"
    if reason is None:
        place = wrap_dim(dim, input.dim())
        assert place is not None
        size = input.shape[place] if input.dim() else 1
        if not 0 <= k <= size:
            reason = "k out of range"
    return reason


def _select_serially(
    rows: torch.Tensor, values: torch.Tensor, indices: torch.Tensor, largest: bool
) -> None:
    count, n = rows.shape
    keys = torch.empty((count, n), dtype=key_dtype(rows.dtype), device=rows.device)
    counts = torch.empty((count, 256), dtype=torch.int32, device=rows.device)
    kernels.select_row_kernel[(count,)](
        rows, values, indices, keys, counts, n, values.shape[1],
        LARGEST=largest, PASSES=rows.itemsize, BLOCK=256,
    )  # fmt: skip


def _select(rows: torch.Tensor, values: torch.Tensor, indices: torch.Tensor, largest: bool) -> None:
    count, n = rows.shape
    k = values.shape[1]
    place = rows.device
    tiles = triton.cdiv(n, _TILE)
    grid, wide = (tiles, count), warps(_TILE)
    keys = torch.empty((count, n), dtype=key_dtype(rows.dtype), device=place)
    encode_kernel[(triton.cdiv(count * n, _TILE),)](
        rows, keys, count * n, DESCENDING=largest, BLOCK=_TILE, num_warps=wide
    )
    known = torch.zeros(count, dtype=keys.dtype, device=place)
    wanted = torch.full((count,), k, dtype=torch.int32, device=place)
    shifts = range(8 * (rows.itemsize - 1), -1, -8)
    counts = torch.zeros((len(shifts), count, 256), dtype=torch.int32, device=place)
    for number, shift in enumerate(shifts):
        kernels.narrow_count_kernel[grid](
            keys, known, counts[number], n, shift, FIRST=number == 0, BLOCK=_TILE, num_warps=wide
        )
        kernels.narrow_kernel[(count,)](known, wanted, counts[number], shift, num_warps=2)
    before = torch.empty((count, tiles), dtype=torch.int32, device=place)
    equal = torch.empty_like(before)
    kernels.mark_kernel[grid](keys, known, before, equal, n, tiles, BLOCK=_TILE, num_warps=wide)
    kernels.collect_kernel[grid](
        rows, keys, known, wanted, exclusive(before, torch.int32)[0],
        exclusive(equal, torch.int32)[0], values, indices, n, k, tiles,
        BLOCK=_TILE, num_warps=wide,
    )  # fmt: skip


_SELECT = _select_serially if SERIAL else _select


def _topk(
    input: torch.Tensor, k: int, dim: int, largest: bool, sorted: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    place = wrap_dim(dim, input.dim())
    assert place is not None
    if not input.dim():
        values = input.new_empty(() if k else 0)
    else:
        values = input.new_empty([*input.shape[:place], k, *input.shape[place + 1 :]])
    indices = torch.empty(values.shape, dtype=torch.int64, device=input.device)
    if not values.numel():
        return values, indices
    rows = rows_of(input, place)
    n = rows.shape[1]
    kept, places = rows_for(values, place), rows_for(indices, place)
    if not SERIAL and n <= WIDEST_NETWORK and rows.itemsize <= 4:
        sort_tiles(rows, kept, places, largest)
    elif not sorted:
        _SELECT(rows, kept, places, largest)
    else:
        chosen, found, order = (torch.empty_like(one) for one in (kept, places, places))
        _SELECT(rows, chosen, found, largest)
        sort_rows(chosen, kept, order, largest)
        torch.gather(found, 1, order, out=places)
    put(kept, values, place)
    put(places, indices, place)
    return values, indices


def topk(
    input: torch.Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> tuple[torch.Tensor, torch.Tensor]:
    """The ``k`` largest (or smallest) elements along ``dim`` and their int64 places.

    Args:
        input: floating or integral, any shape and strides; other dtypes go to torch.
        k: from 0 to the size of ``dim``.
        sorted: in order; otherwise in none that one may rely on.

    Raises:
        IndexError, RuntimeError: whatever torch raises for a bad k, dim or dtype.
    """
    reason = _limit(input, k, dim)
    if reason is not None:
        values, indices = native.call("topk", reason, input, k, dim, largest, sorted)
        return TopkResult((values, indices))
    ledger.record("topk", "gems")
    return TopkResult(_topk(input, k, dim, largest, sorted))


def topk_out(
    input: torch.Tensor,
    k: int,
    dim: int = -1,
    largest: bool = True,
    sorted: bool = True,
    *,
    values: torch.Tensor,
    indices: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    """:func:`topk` into ``values`` and ``indices``, resized where their shapes differ."""
    reason = _limit(input, k, dim) or out_limit(input, values, indices)
    if reason is not None:
        native.call(
            "topk.values", reason, input, k, dim, largest, sorted, values=values, indices=indices
        )
        return values, indices
    ledger.record("topk.values", "gems")
    results = _topk(input, k, dim, largest, sorted)
    for out, result in zip((values, indices), results, strict=True):
        resize_out(out, result.shape).copy_(result)
    return values, indices
