# SPDX-License-Identifier: Apache-2.0
"""The two kernels under every reduction: of values alone, and of values with their places.

Program (i, j) reduces chunk j of the reduced elements for tile i of the kept ones; where there are
several chunks it writes partial results, and a second launch reduces these.
"""

from __future__ import annotations

import triton
import triton.language as tl

from flag_gems.runtime.launcher import kernel

NONE = tl.constexpr(1 << 62)
"""The place of a lane that holds no element; behind every other one."""


@triton.jit
def _rows(x, i, inner, outer_step, inner_step):
    return x + (i // inner * outer_step + i % inner * inner_step)[:, None]


@triton.jit
def _plus(x, y):
    return x + y


@triton.jit
def _times(x, y):
    return x * y


@triton.jit
def _larger(x, y):
    # Of a NaN and a number the NaN.
    return tl.where((x > y) | (x != x), x, y)


@triton.jit
def _smaller(x, y):
    return tl.where((x < y) | (x != x), x, y)


@triton.jit
def _either(x, y):
    return x | y


@triton.jit
def _each(x, y):
    return x & y


@triton.jit
def _combined(x, y, HOW: tl.constexpr):
    if HOW == "sum":
        result = _plus(x, y)
    elif HOW == "prod":
        result = _times(x, y)
    elif HOW == "max":
        result = _larger(x, y)
    elif HOW == "min":
        result = _smaller(x, y)
    elif HOW == "any":
        result = _either(x, y)
    else:
        result = _each(x, y)
    return result


@triton.jit
def _reduced(x, HOW: tl.constexpr):
    # tl.reduce takes no function that came as a constant expression.
    if HOW == "sum":
        result = tl.reduce(x, 1, _plus)
    elif HOW == "prod":
        result = tl.reduce(x, 1, _times)
    elif HOW == "max":
        result = tl.reduce(x, 1, _larger)
    elif HOW == "min":
        result = tl.reduce(x, 1, _smaller)
    elif HOW == "any":
        result = tl.reduce(x, 1, _either)
    else:
        result = tl.reduce(x, 1, _each)
    return result


@kernel(do_not_specialize=["count"])
def value_kernel(
    x, out, kept, kept_inner, kept_outer_step, kept_inner_step,
    reduced, reduced_inner, reduced_outer_step, reduced_inner_step, chunk, count,
    HOW: tl.constexpr, TRUTH: tl.constexpr, MEAN: tl.constexpr, IDENTITY: tl.constexpr,
    ACCUMULATE: tl.constexpr, EVEN: tl.constexpr, BLOCK_KEPT: tl.constexpr,
    BLOCK_REDUCED: tl.constexpr,
):  # fmt: skip
    """HOW: sum, prod, max, min, any or all. TRUTH: what is combined is whether a value differs from
    0. MEAN: the result is divided by ``count``. EVEN: every tile of reduced elements is full."""
    i = tl.program_id(0).to(tl.int64) * BLOCK_KEPT + tl.arange(0, BLOCK_KEPT)
    split = tl.program_id(1).to(tl.int64)
    lane = tl.arange(0, BLOCK_REDUCED)
    first = split * chunk
    last = tl.minimum(first + chunk, reduced)
    inside = i < kept
    row = _rows(x, tl.minimum(i, kept - 1), kept_inner, kept_outer_step, kept_inner_step)
    total = tl.full((BLOCK_KEPT, BLOCK_REDUCED), IDENTITY, ACCUMULATE)
    for start in range(0, chunk, BLOCK_REDUCED):
        begin = first + start
        j = begin + lane
        step = j // reduced_inner * reduced_outer_step + j % reduced_inner * reduced_inner_step
        if EVEN:
            value = tl.load(row + step[None, :])
        else:
            value = tl.load(row + step[None, :], mask=(j < last)[None, :], other=0)
        if TRUTH:
            value = value != 0
        value = value.to(ACCUMULATE)
        if not EVEN:
            blank = tl.full((1, 1), IDENTITY, ACCUMULATE)
            value = tl.where((j < last)[None, :], value, blank)
        total = _combined(total, value, HOW)
    result = _reduced(total, HOW)
    if MEAN:
        result = result / count.to(ACCUMULATE)
    place = out + split * kept + i
    if out.dtype.element_ty == tl.int1:
        result = result != 0
    tl.store(place, result.to(out.dtype.element_ty), mask=inside)


@triton.jit
def _largest(value, place, other, other_place):
    # A NaN is above everything, and of equals the first counts.
    above = (other > value) | ((other != other) & (value == value))
    same = (other == value) | ((other != other) & (value != value))
    # A lane without an element holds a value that must not count.
    taken = (above | (same & (other_place < place)) | (place == NONE)) & (other_place != NONE)
    return tl.where(taken, other, value), tl.where(taken, other_place, place)


@triton.jit
def _smallest(value, place, other, other_place):
    below = (other < value) | ((other != other) & (value == value))
    same = (other == value) | ((other != other) & (value != value))
    taken = (below | (same & (other_place < place)) | (place == NONE)) & (other_place != NONE)
    return tl.where(taken, other, value), tl.where(taken, other_place, place)


@kernel
def place_kernel(
    x, places, values, out, kept, kept_inner, kept_outer_step, kept_inner_step,
    reduced, reduced_inner, reduced_outer_step, reduced_inner_step, chunk,
    LARGEST: tl.constexpr, COMPUTE: tl.constexpr, BLOCK_KEPT: tl.constexpr,
    BLOCK_REDUCED: tl.constexpr,
):  # fmt: skip
    """``places``: the place of each element of ``x``, or None where it is the element's index.
    ``values``: where the extreme itself goes, or None."""
    i = tl.program_id(0).to(tl.int64) * BLOCK_KEPT + tl.arange(0, BLOCK_KEPT)
    split = tl.program_id(1).to(tl.int64)
    lane = tl.arange(0, BLOCK_REDUCED)
    first = split * chunk
    last = tl.minimum(first + chunk, reduced)
    inside = i < kept
    offset = i // kept_inner * kept_outer_step + i % kept_inner * kept_inner_step
    best = tl.zeros((BLOCK_KEPT, BLOCK_REDUCED), COMPUTE)
    place = tl.full((BLOCK_KEPT, BLOCK_REDUCED), NONE, tl.int64)
    for start in range(0, chunk, BLOCK_REDUCED):
        j = first + start + lane
        mask = inside[:, None] & (j < last)[None, :]
        step = j // reduced_inner * reduced_outer_step + j % reduced_inner * reduced_inner_step
        there = offset[:, None] + step[None, :]
        value = tl.load(x + there, mask=mask, other=0).to(COMPUTE)
        if places is None:
            index = tl.where(mask, j[None, :], NONE)
        else:
            index = tl.load(places + there, mask=mask, other=NONE)
        if LARGEST:
            best, place = _largest(best, place, value, index)
        else:
            best, place = _smallest(best, place, value, index)
    if LARGEST:
        best, place = tl.reduce((best, place), 1, _largest)
    else:
        best, place = tl.reduce((best, place), 1, _smallest)
    target = split * kept + i
    tl.store(out + target, place, mask=inside)
    if values is not None:
        if values.dtype.element_ty == tl.int1:
            best = best != 0
        tl.store(values + target, best.to(values.dtype.element_ty), mask=inside)
