# SPDX-License-Identifier: Apache-2.0
"""Sums of what stands before each element of a row: where parts of a result begin."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from flag_gems.runtime.launcher import kernel
from flag_gems.runtime.tiling import warps

_TILE = 4096


@kernel
def scan_kernel(x, out, totals, n, tiles, BLOCK: tl.constexpr):
    """Sums within a tile, and each tile's total."""
    tile = tl.program_id(0)
    row = tl.program_id(1).to(tl.int64)
    i = tile.to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + row * n + i, mask=i < n, other=0).to(out.dtype.element_ty)
    tl.store(out + row * n + i, tl.cumsum(value, 0) - value, mask=i < n)
    tl.store(totals + row * tiles + tile, tl.sum(value, 0))


@kernel
def add_kernel(out, before, n, tiles, BLOCK: tl.constexpr):
    tile = tl.program_id(0)
    row = tl.program_id(1).to(tl.int64)
    i = tile.to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    held = tl.load(out + row * n + i, mask=i < n, other=0)
    tl.store(out + row * n + i, held + tl.load(before + row * tiles + tile), mask=i < n)


def exclusive(counts: torch.Tensor, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """Exclusive sums of contiguous rows [R, N] of integers in ``dtype``, and totals [R, 1]."""
    rows, n = counts.shape
    tiles = triton.cdiv(n, _TILE)
    block = min(triton.next_power_of_2(n), _TILE)
    sums = torch.empty((rows, n), dtype=dtype, device=counts.device)
    totals = torch.empty((rows, tiles), dtype=dtype, device=counts.device)
    width = warps(block)
    scan_kernel[(tiles, rows)](counts, sums, totals, n, tiles, BLOCK=block, num_warps=width)
    if tiles == 1:
        return sums, totals
    before, total = exclusive(totals, dtype)
    add_kernel[(tiles, rows)](sums, before, n, tiles, BLOCK=block, num_warps=width)
    return sums, total
