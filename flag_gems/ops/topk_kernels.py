# SPDX-License-Identifier: Apache-2.0
"""The k first of a row by radix selection: the digits of the k-th key are found from the top.

Each walk counts the digits of the keys that share what is known of the k-th; what stands before it
and as many of its equals as are wanted are then written in the order of the row.
"""

from __future__ import annotations

import triton.language as tl

from flag_gems.ops.sort_kernels import DIGITS
from flag_gems.runtime.launcher import kernel
from flag_gems.runtime.ordering import digit, key, unsigned


@kernel(do_not_specialize=["k"])
def select_row_kernel(
    x, values, indices, keys, counts, n, k,
    LARGEST: tl.constexpr, PASSES: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """One row a program, serially: k of its elements, in the order of the row."""
    row = tl.program_id(0).to(tl.int64)
    x += row * n
    keys += row * n
    counts += row * DIGITS
    values += row * k
    indices += row * k
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        made = key(tl.load(x + i, mask=i < n, other=0), LARGEST)
        tl.store(keys + i, made.to(keys.dtype.element_ty, bitcast=True), mask=i < n)
    known = unsigned(tl.load(keys)) & 0
    wanted = k
    for p in tl.static_range(PASSES):
        shift = tl.full((), 8 * (PASSES - 1 - p), tl.int32)
        tl.store(counts + tl.arange(0, DIGITS), tl.zeros((DIGITS,), tl.int32))
        for i in range(n):
            held = unsigned(tl.load(keys + i))
            if p == 0 or ((held ^ known) >> (8 * (PASSES - p))) == 0:
                at = counts + digit(held, shift)
                tl.store(at, tl.load(at) + 1)
        found = 0
        before = 0
        for d in range(DIGITS):
            here = tl.load(counts + d)
            if (before < wanted) & (before + here >= wanted):
                found = d
                tl.store(counts + d, -before - 1)
            before += here
        # The count of the digit that was found has become what stands before it.
        wanted += tl.load(counts + found) + 1
        known = known | (tl.cast(found, known.dtype) << shift.to(known.dtype))
    to = 0
    for i in range(n):
        held = unsigned(tl.load(keys + i))
        equal = held == known
        if (held < known) | (equal & (wanted > 0)):
            tl.store(values + to, tl.load(x + i))
            tl.store(indices + to, tl.cast(i, tl.int64))
            to += 1
            wanted -= equal.to(tl.int32)


@kernel(do_not_specialize=["shift"])
def narrow_count_kernel(
    keys, known, counts, n, shift, FIRST: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    """Adds a tile's digits, of keys that begin as ``known[row]``, to ``counts[row, digit]``."""
    row = tl.program_id(1).to(tl.int64)
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    held = unsigned(tl.load(keys + row * n + i, mask=inside, other=0))
    if not FIRST:
        prefix = unsigned(tl.load(known + row))
        inside &= ((held ^ prefix) >> shift.to(held.dtype) >> 8) == 0
    found = tl.histogram(digit(held, shift), DIGITS, mask=inside)
    lane = tl.arange(0, DIGITS)
    tl.atomic_add(counts + row * DIGITS + lane, found, mask=found > 0, sem="relaxed")


@kernel(do_not_specialize=["shift"])
def narrow_kernel(known, wanted, counts, shift):
    """Of each row the next digit of the k-th key, and how many of its equals are still wanted."""
    row = tl.program_id(0).to(tl.int64)
    lane = tl.arange(0, DIGITS)
    here = tl.load(counts + row * DIGITS + lane)
    upto = tl.cumsum(here, 0)
    left = tl.load(wanted + row)
    its = (upto - here < left) & (upto >= left)
    found = tl.sum(tl.where(its, lane, 0), 0)
    tl.store(wanted + row, left - tl.sum(tl.where(its, upto - here, 0), 0))
    held = unsigned(tl.load(known + row))
    held = held | (found.to(held.dtype) << shift.to(held.dtype))
    tl.store(known + row, held.to(known.dtype.element_ty, bitcast=True))


@kernel
def mark_kernel(keys, known, before, equal, n, tiles, BLOCK: tl.constexpr):
    """How many keys of a tile stand before the k-th, and how many equal it."""
    tile = tl.program_id(0)
    row = tl.program_id(1).to(tl.int64)
    i = tile.to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    held = unsigned(tl.load(keys + row * n + i, mask=inside, other=0))
    kth = unsigned(tl.load(known + row))
    tl.store(before + row * tiles + tile, tl.sum(((held < kth) & inside).to(tl.int32), 0))
    tl.store(equal + row * tiles + tile, tl.sum(((held == kth) & inside).to(tl.int32), 0))


@kernel
def collect_kernel(
    x, keys, known, wanted, before, equal, values, indices, n, k, tiles, BLOCK: tl.constexpr
):  # fmt: skip
    """Writes what was chosen: first what stands before the k-th key, then its equals."""
    tile = tl.program_id(0)
    row = tl.program_id(1).to(tl.int64)
    i = tile.to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    held = unsigned(tl.load(keys + row * n + i, mask=inside, other=0))
    kth = unsigned(tl.load(known + row))
    equals = tl.load(wanted + row)
    below = (held < kth) & inside
    same = (held == kth) & inside
    at = tl.cumsum(below.to(tl.int32), 0) - 1 + tl.load(before + row * tiles + tile)
    nth = tl.cumsum(same.to(tl.int32), 0) - 1 + tl.load(equal + row * tiles + tile)
    taken = below | (same & (nth < equals))
    to = row * k + tl.where(below, at, k - equals + nth)
    tl.store(values + to, tl.load(x + row * n + i, mask=taken, other=0), mask=taken)
    tl.store(indices + to, i, mask=taken)
