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
def _tile(where, inside, there, KEPT_EVEN: tl.constexpr, EVEN: tl.constexpr):
    # A mask only where it is needed, and no clamped index: Triton sees neighbours in memory, and
    # so wide loads and which way a warp should lie, in plain sums alone.
    if KEPT_EVEN and EVEN:
        value = tl.load(where)
    elif KEPT_EVEN:
        value = tl.load(where, mask=there, other=0)
    elif EVEN:
        value = tl.load(where, mask=inside, other=0)
    else:
        value = tl.load(where, mask=inside & there, other=0)
    return value


@triton.jit
def _plus(x, y):
    return x + y


@triton.jit
def _times(x, y):
    return x * y


@triton.jit
def _larger(x, y):
    return tl.maximum(x, y, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def _smaller(x, y):
    return tl.minimum(x, y, propagate_nan=tl.PropagateNan.ALL)


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
    ACCUMULATE: tl.constexpr, KEPT_EVEN: tl.constexpr, EVEN: tl.constexpr,
    BLOCK_KEPT: tl.constexpr, BLOCK_REDUCED: tl.constexpr,
):  # fmt: skip
    """HOW: sum, prod, max, min, any or all. TRUTH: what is combined is whether a value differs from
    0. MEAN: the result is divided by ``count``. KEPT_EVEN, EVEN: every tile is full that way."""
    i = tl.program_id(0).to(tl.int64) * BLOCK_KEPT + tl.arange(0, BLOCK_KEPT)
    split = tl.program_id(1).to(tl.int64)
    lane = tl.arange(0, BLOCK_REDUCED)
    first = split * chunk
    last = tl.minimum(first + chunk, reduced)
    inside = i < kept
    row = _rows(x, i, kept_inner, kept_outer_step, kept_inner_step)
    total = tl.full((BLOCK_KEPT, BLOCK_REDUCED), IDENTITY, ACCUMULATE)
    for start in range(0, chunk, BLOCK_REDUCED):
        begin = first + start
        j = begin + lane
        step = j // reduced_inner * reduced_outer_step + j % reduced_inner * reduced_inner_step
        value = _tile(row + step[None, :], inside[:, None], (j < last)[None, :], KEPT_EVEN, EVEN)
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
def _above(x, y, LARGEST: tl.constexpr):
    """Whether ``y`` counts before ``x``: it is beyond it, or the first NaN."""
    beyond = y > x if LARGEST else y < x
    return beyond | ((y != y) & (x == x))


@triton.jit
def _largest(value, place, other, other_place):
    same = (other == value) | ((other != other) & (value != value))
    taken = _above(value, other, True) | (same & (other_place < place))
    return tl.where(taken, other, value), tl.where(taken, other_place, place)


@triton.jit
def _smallest(value, place, other, other_place):
    same = (other == value) | ((other != other) & (value != value))
    taken = _above(value, other, False) | (same & (other_place < place))
    return tl.where(taken, other, value), tl.where(taken, other_place, place)


@kernel
def place_kernel(
    x, places, values, out, kept, kept_inner, kept_outer_step, kept_inner_step,
    reduced, reduced_inner, reduced_outer_step, reduced_inner_step, chunk,
    LARGEST: tl.constexpr, COMPUTE: tl.constexpr, LAST: tl.constexpr, KEPT_EVEN: tl.constexpr,
    EVEN: tl.constexpr, BLOCK_KEPT: tl.constexpr, BLOCK_REDUCED: tl.constexpr,
):  # fmt: skip
    """``places``: the place of each element of ``x``, or None where it is the element's index.
    ``values``: where the extreme itself goes, or None. LAST: what no element counts behind."""
    i = tl.program_id(0).to(tl.int64) * BLOCK_KEPT + tl.arange(0, BLOCK_KEPT)
    split = tl.program_id(1).to(tl.int64)
    lane = tl.arange(0, BLOCK_REDUCED)
    first = split * chunk
    last = tl.minimum(first + chunk, reduced)
    inside = i < kept
    row = _rows(x, i, kept_inner, kept_outer_step, kept_inner_step)
    best = tl.full((BLOCK_KEPT, BLOCK_REDUCED), LAST, COMPUTE)
    # A lane meets its elements in their order, so that of equals it keeps the first by itself; and
    # where it was is told by a number that all lanes share, half as wide as a place.
    at = tl.zeros((BLOCK_KEPT, BLOCK_REDUCED), tl.int32)
    for start in range(0, chunk, BLOCK_REDUCED):
        begin = first + start
        j = begin + lane
        step = j // reduced_inner * reduced_outer_step + j % reduced_inner * reduced_inner_step
        value = _tile(row + step[None, :], inside[:, None], (j < last)[None, :], KEPT_EVEN, EVEN)
        value = value.to(COMPUTE)
        if not EVEN:
            value = tl.where((j < last)[None, :], value, tl.full((1, 1), LAST, COMPUTE))
        taken = _above(best, value, LARGEST)
        best = tl.where(taken, value, best)
        at = tl.where(taken, start, at)
    place = (first + lane)[None, :] + at
    if not EVEN:
        place = tl.where((first + lane < last)[None, :], place, NONE)
    if LARGEST:
        best, place = tl.reduce((best, place), 1, _largest)
    else:
        best, place = tl.reduce((best, place), 1, _smallest)
    target = split * kept + i
    if values is not None:
        if values.dtype.element_ty == tl.int1:
            best = best != 0
        tl.store(values + target, best.to(values.dtype.element_ty), mask=inside)
    if places is not None:
        offset = i // kept_inner * kept_outer_step + i % kept_inner * kept_inner_step
        offset += place // reduced_inner * reduced_outer_step
        offset += place % reduced_inner * reduced_inner_step
        place = tl.load(places + offset, mask=inside)
    tl.store(out + target, place, mask=inside)
