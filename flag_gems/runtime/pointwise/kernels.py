# SPDX-License-Identifier: Apache-2.0
"""The three kernels under every element-wise operator, by how its tensors lie in memory.

``flat``: all lie alike, so one running offset serves them all. ``tiled``: two dimensions make a
tile, wide along the result's neighbours and along the neighbours of an operand that runs the other
way, up to two more make the grid. ``indexed``: four dimensions from a running index, for tensors
of many short dimensions.

An operand is a tensor (``pK``) or a number (``qK``), and the other of the two is None. Numbers come
as float where the kernel computes in float32, else as an integer: Triton would pass a Python float
as float32, so float64 comes as its bits.
"""

from __future__ import annotations

import triton
import triton.language as tl

from flag_gems.runtime.launcher import kernel


@triton.jit
def _number(q, COMPUTE: tl.constexpr):
    if tl.float64 == COMPUTE:
        return q.to(tl.int64).to(tl.float64, bitcast=True)
    return q.to(COMPUTE)


@triton.jit
def _operand(p, q, offset, mask, COMPUTE: tl.constexpr):
    # One exit: Triton compiles what stands behind a return, even where it can't be reached.
    if p is None:
        value = _number(q, COMPUTE)
    elif mask is None:
        value = tl.load(p + offset).to(COMPUTE)
    else:
        value = tl.load(p + offset, mask=mask).to(COMPUTE)
    return value


@triton.jit
def _flat_operand(p, q, first, lane, mask, ONE: tl.constexpr, COMPUTE: tl.constexpr):
    if p is None:
        value = _number(q, COMPUTE)
    elif ONE:
        value = tl.load(p).to(COMPUTE)
    else:
        value = _operand(p + first, q, lane, mask, COMPUTE)
    return value


@triton.jit
def _result(v0, v1, v2, v3, FUNCTION: tl.constexpr, SLOTS: tl.constexpr):
    if SLOTS == 1:
        result = FUNCTION(v0)
    elif SLOTS == 2:
        result = FUNCTION(v0, v1)
    elif SLOTS == 3:
        result = FUNCTION(v0, v1, v2)
    else:
        result = FUNCTION(v0, v1, v2, v3)
    return result


@triton.jit
def _write(place, result, mask):
    element: tl.constexpr = place.dtype.element_ty
    if element == tl.int1:
        result = result != 0
    elif element == tl.float16 or element == tl.bfloat16:
        # torch rounds to a half type from float32, wherever a value comes from.
        result = result.to(tl.float32)
    result = result.to(element)
    if mask is None:
        tl.store(place, result)
    else:
        tl.store(place, result, mask=mask)


@triton.jit
def _flat_block(
    p0, p1, p2, p3, q0, q1, q2, q3, out, first, lane, mask,
    FUNCTION: tl.constexpr, COMPUTE: tl.constexpr, SLOTS: tl.constexpr, ONES: tl.constexpr,
):  # fmt: skip
    v0 = _flat_operand(p0, q0, first, lane, mask, ONES & 1, COMPUTE)
    v1 = v0
    v2 = v0
    v3 = v0
    if SLOTS > 1:
        v1 = _flat_operand(p1, q1, first, lane, mask, ONES & 2, COMPUTE)
    if SLOTS > 2:
        v2 = _flat_operand(p2, q2, first, lane, mask, ONES & 4, COMPUTE)
    if SLOTS > 3:
        v3 = _flat_operand(p3, q3, first, lane, mask, ONES & 8, COMPUTE)
    result = _result(v0, v1, v2, v3, FUNCTION, SLOTS)
    _write(out + first + lane, result, mask)


@kernel(do_not_specialize=["q0", "q1", "q2", "q3"])
def flat_kernel(
    p0, p1, p2, p3, q0, q1, q2, q3, out, count,
    FUNCTION: tl.constexpr, COMPUTE: tl.constexpr, SLOTS: tl.constexpr, ONES: tl.constexpr,
    ALIGNED: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """ONES: bit K is set where operand K is a single element. ALIGNED: count is a multiple of 16,
    and so the mask cuts no vector of a load in two."""
    first = tl.program_id(0).to(tl.int64) * BLOCK
    lane = tl.arange(0, BLOCK)
    if ALIGNED:
        _flat_block(p0, p1, p2, p3, q0, q1, q2, q3, out, first, lane, lane < count - first,
                    FUNCTION, COMPUTE, SLOTS, ONES)  # fmt: skip
    elif first + BLOCK <= count:
        _flat_block(p0, p1, p2, p3, q0, q1, q2, q3, out, first, lane, None,
                    FUNCTION, COMPUTE, SLOTS, ONES)  # fmt: skip
    else:
        _flat_block(p0, p1, p2, p3, q0, q1, q2, q3, out, first, lane, lane < count - first,
                    FUNCTION, COMPUTE, SLOTS, ONES)  # fmt: skip


@triton.jit
def _offset(i0, i1, i2, i3, s0, s1, s2, s3):
    return i2 * s2 + i3 * s3 + (i0 * s0 + i1 * s1)


@kernel(do_not_specialize=["q0", "q1", "q2", "q3"])
def tiled_kernel(
    p0, p1, p2, p3, q0, q1, q2, q3, out, n1, n2, n3,
    a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3, d0, d1, d2, d3, o0, o1, o2, o3,
    FUNCTION: tl.constexpr, COMPUTE: tl.constexpr, SLOTS: tl.constexpr, WIDE: tl.constexpr,
    BLOCK_2: tl.constexpr, BLOCK_3: tl.constexpr,
):  # fmt: skip
    """WIDE: offsets within the two dimensions of a tile don't fit into 32 bits."""
    program = tl.program_id(0)
    across = tl.cdiv(n3, BLOCK_3)
    down = tl.cdiv(n2, BLOCK_2)
    i3 = program % across * BLOCK_3 + tl.arange(0, BLOCK_3)
    program = program // across
    i2 = program % down * BLOCK_2 + tl.arange(0, BLOCK_2)
    program = (program // down).to(tl.int64)
    i1 = program % n1
    i0 = program // n1
    mask = (i2 < n2)[:, None] & (i3 < n3)[None, :]
    i2 = i2[:, None]
    i3 = i3[None, :]
    if WIDE:
        i2 = i2.to(tl.int64)
        i3 = i3.to(tl.int64)
    v0 = _operand(p0, q0, _offset(i0, i1, i2, i3, a0, a1, a2, a3), mask, COMPUTE)
    v1 = v0
    v2 = v0
    v3 = v0
    if SLOTS > 1:
        v1 = _operand(p1, q1, _offset(i0, i1, i2, i3, b0, b1, b2, b3), mask, COMPUTE)
    if SLOTS > 2:
        v2 = _operand(p2, q2, _offset(i0, i1, i2, i3, c0, c1, c2, c3), mask, COMPUTE)
    if SLOTS > 3:
        v3 = _operand(p3, q3, _offset(i0, i1, i2, i3, d0, d1, d2, d3), mask, COMPUTE)
    result = _result(v0, v1, v2, v3, FUNCTION, SLOTS)
    _write(out + _offset(i0, i1, i2, i3, o0, o1, o2, o3), result, mask)


@kernel(do_not_specialize=["q0", "q1", "q2", "q3"])
def indexed_kernel(
    p0, p1, p2, p3, q0, q1, q2, q3, out, count, n1, n2, n3,
    a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3, d0, d1, d2, d3, o0, o1, o2, o3,
    FUNCTION: tl.constexpr, COMPUTE: tl.constexpr, SLOTS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    index = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = index < count
    i3 = index % n3
    index = index // n3
    i2 = index % n2
    index = index // n2
    i1 = index % n1
    i0 = index // n1
    v0 = _operand(p0, q0, _offset(i0, i1, i2, i3, a0, a1, a2, a3), mask, COMPUTE)
    v1 = v0
    v2 = v0
    v3 = v0
    if SLOTS > 1:
        v1 = _operand(p1, q1, _offset(i0, i1, i2, i3, b0, b1, b2, b3), mask, COMPUTE)
    if SLOTS > 2:
        v2 = _operand(p2, q2, _offset(i0, i1, i2, i3, c0, c1, c2, c3), mask, COMPUTE)
    if SLOTS > 3:
        v3 = _operand(p3, q3, _offset(i0, i1, i2, i3, d0, d1, d2, d3), mask, COMPUTE)
    result = _result(v0, v1, v2, v3, FUNCTION, SLOTS)
    _write(out + _offset(i0, i1, i2, i3, o0, o1, o2, o3), result, mask)
