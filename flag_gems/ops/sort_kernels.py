# SPDX-License-Identifier: Apache-2.0
"""Radix sorts of rows, least significant digit first and therefore stable; digits of eight bits.

On a CPU one program sorts a row by counting, an element at a time, as a processor likes it. On a
GPU a program takes a tile: short rows are sorted whole by a network, long ones in a counting and a
scattering pass for each digit (Merrill and Grimshaw, 2011), where a tile is first sorted by its
digit so that neighbours in the result are written together.
"""

from __future__ import annotations

import triton
import triton.language as tl

from flag_gems.runtime.launcher import kernel
from flag_gems.runtime.ordering import digit, key, unsigned

DIGITS = tl.constexpr(256)


@triton.jit
def _count_digits(keys, counts, n, PASSES: tl.constexpr):
    """Histograms of all digits in one walk, then where each digit begins."""
    for d in range(0, PASSES * DIGITS, DIGITS):
        tl.store(counts + d + tl.arange(0, DIGITS), tl.zeros((DIGITS,), tl.int32))
    for i in range(n):
        value = unsigned(tl.load(keys + i))
        for p in tl.static_range(PASSES):
            at = counts + p * DIGITS + digit(value, tl.full((), 8 * p, tl.int32))
            tl.store(at, tl.load(at) + 1)
    for p in tl.static_range(PASSES):
        before = 0
        for d in range(DIGITS):
            at = counts + p * DIGITS + d
            here = tl.load(at)
            tl.store(at, before)
            before += here


@kernel
def row_kernel(
    x, values, indices, keys, order, counts, n,
    DESCENDING: tl.constexpr, PASSES: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Sorts one row a program, serially. ``keys``, ``order``: scratch of two rows each a row."""
    row = tl.program_id(0).to(tl.int64)
    x += row * n
    values += row * n
    indices += row * n
    keys += row * 2 * n
    order += row * 2 * n
    counts += row * PASSES * DIGITS
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        made = key(tl.load(x + i, mask=i < n, other=0), DESCENDING)
        tl.store(keys + i, made.to(keys.dtype.element_ty, bitcast=True), mask=i < n)
    _count_digits(keys, counts, n, PASSES)
    for p in tl.static_range(PASSES):
        source = (p % 2) * n
        target = n - source
        for i in range(n):
            held = tl.load(keys + source + i)
            place = i if p == 0 else tl.load(order + source + i)
            at = counts + p * DIGITS + digit(unsigned(held), tl.full((), 8 * p, tl.int32))
            to = tl.load(at)
            tl.store(at, to + 1)
            if p == PASSES - 1:
                tl.store(indices + to, tl.cast(place, tl.int64))
                tl.store(values + to, tl.load(x + place))
            else:
                tl.store(keys + target + to, held)
                tl.store(order + target + to, tl.cast(place, order.dtype.element_ty))


@kernel
def tile_kernel(
    x, values, indices, n, kept, DESCENDING: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    """Sorts a row of at most BLOCK elements with keys of up to 32 bits; writes the first ``kept``.

    A key and its place make one number, so that equal keys stay in their order.
    """
    row = tl.program_id(0).to(tl.int64)
    lane = tl.arange(0, BLOCK)
    inside = lane < n
    made = key(tl.load(x + row * n + lane, mask=inside, other=0), DESCENDING)
    # The topmost bit stays free: the network compares signed numbers.
    packed = (made.to(tl.int64) << 16) | lane
    packed = tl.sort(tl.where(inside, packed, 1 << 62))
    place = packed & 65535
    written = lane < kept
    tl.store(indices + row * kept + lane, place, mask=written)
    value = tl.load(x + row * n + place, mask=written, other=0)
    tl.store(values + row * kept + lane, value, mask=written)


@kernel
def encode_kernel(x, keys, n, DESCENDING: tl.constexpr, BLOCK: tl.constexpr):
    """The keys of all elements."""
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    made = key(tl.load(x + i, mask=i < n, other=0), DESCENDING)
    tl.store(keys + i, made.to(keys.dtype.element_ty, bitcast=True), mask=i < n)


@kernel(do_not_specialize=["shift"])
def count_kernel(keys, counts, n, tiles, shift, BLOCK: tl.constexpr):
    """How often each digit occurs in a tile: ``counts[row, digit, tile]``."""
    tile = tl.program_id(0)
    row = tl.program_id(1).to(tl.int64)
    i = tile.to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    held = unsigned(tl.load(keys + row * n + i, mask=i < n, other=0))
    found = tl.histogram(digit(held, shift), DIGITS, mask=i < n)
    tl.store(counts + (row * DIGITS + tl.arange(0, DIGITS)) * tiles + tile, found)


@kernel(do_not_specialize=["shift"])
def scatter_kernel(
    keys, order, offsets, out_keys, out_order, n, tiles, shift,
    FIRST: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Moves a tile's keys and places to where ``offsets[row, digit, tile]`` says they belong."""
    tile = tl.program_id(0)
    row = tl.program_id(1).to(tl.int64)
    lane = tl.arange(0, BLOCK)
    begin = tile.to(tl.int64) * BLOCK
    inside = begin + lane < n
    held = unsigned(tl.load(keys + row * n + begin + lane, mask=inside, other=0))
    its_digit = digit(held, shift)
    found = tl.histogram(its_digit, DIGITS, mask=inside)
    packed = tl.sort(tl.where(inside, its_digit, DIGITS) * BLOCK + lane)
    source = packed & (BLOCK - 1)
    its_digit = packed // BLOCK
    inside = its_digit < DIGITS
    its_digit = tl.minimum(its_digit, DIGITS - 1)
    starts = tl.cumsum(found, 0) - found
    rank = lane - tl.gather(starts, its_digit, 0)
    to = tl.load(offsets + (row * DIGITS + its_digit) * tiles + tile, mask=inside, other=0) + rank
    held = tl.load(keys + row * n + begin + source, mask=inside, other=0)
    if FIRST:
        place = begin + source
    else:
        place = tl.load(order + row * n + begin + source, mask=inside, other=0)
    tl.store(out_keys + row * n + to, held, mask=inside)
    tl.store(out_order + row * n + to, place.to(out_order.dtype.element_ty), mask=inside)


@kernel
def take_kernel(x, order, values, indices, n, total, BLOCK: tl.constexpr):
    """The values and the int64 places of a sorted order."""
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = i < total
    place = tl.load(order + i, mask=inside, other=0).to(tl.int64)
    tl.store(indices + i, place, mask=inside)
    tl.store(values + i, tl.load(x + i // n * n + place, mask=inside, other=0), mask=inside)
