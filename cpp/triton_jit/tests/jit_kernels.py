# SPDX-License-Identifier: Apache-2.0
"""Kernels for the tests of the run time."""

import triton
import triton.language as tl


@triton.jit
def twice(value):
    return value * 2


@triton.jit
def scaled(x, out, n, factor, FUNCTION: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, FUNCTION(tl.load(x + i, mask=i < n)) * factor, mask=i < n)


@triton.jit
def fill(out, n, VALUE: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.full((BLOCK,), VALUE, tl.int64), mask=i < n)


@triton.jit
def constants(
    out,
    NAME: tl.constexpr,
    DTYPE: tl.constexpr,
    FLAG: tl.constexpr,
    NUMBER: tl.constexpr,
    NOTHING: tl.constexpr,
):
    value = tl.full((), NUMBER, DTYPE)
    if NAME == "negative":
        value = -value
    if FLAG:
        value += 1
    if NOTHING is None:
        value += 10
    tl.store(out, value)


@triton.jit
def wrong(x, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), tl.no_such_function(BLOCK))


@triton.jit
def asserting(x, n):
    tl.device_assert(n > 5, "n is too small")
    tl.store(x, n)


# Parameters of every kind for the comparison with Triton's own specialisation.
@triton.jit
def plain(a, b, c, d):
    pass


@triton.jit(do_not_specialize=["b", "d"], do_not_specialize_on_alignment=["c"])
def restrained(a, b, c, d):
    pass


@triton.jit
def annotated(a: tl.int32, b: tl.int64, c: tl.float32, d: tl.float64):
    pass


@triton.jit(do_not_specialize=["a"])
def pointed(a: tl.int64, b: tl.const, c: tl.constexpr, d: tl.int1):
    pass
