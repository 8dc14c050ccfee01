# SPDX-License-Identifier: Apache-2.0
"""pow, roots and lengths.

float goes through double, whose range and precision leave one rounding at the end: x^y is
exp2(y log2 x), and squares neither overflow nor lose bits. double's pow and cbrt are the C
library's, lane by lane.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from triton_cpu.llvm.emit import F64
from triton_cpu.math.exponential import exp2
from triton_cpu.math.logarithm import log2
from triton_cpu.math.number import Number, lane_by_lane


def sqrt(x: Number) -> Number:
    return x.sqrt()


def rsqrt(x: Number) -> Number:
    """In double for floats: 1 / sqrt rounds twice otherwise."""
    return 1.0 / x.sqrt()


def power(x: Number, y: Number) -> Number:
    """x^y by C99's rules for special values."""
    if x.type.scalar == "double":
        return lane_by_lane("pow", F64, [x, y])
    infinity = float("inf")
    size = abs(x).cast("fpext", "double")
    result = exp2(y.cast("fpext", "double") * log2(size)).cast("fptrunc", "float")
    whole = y.intrinsic("trunc").equals(y)
    half = y * 0.5
    odd = whole & half.intrinsic("trunc").differs(half) & (abs(y) < infinity)
    negative = x.bits() < 0
    result = (negative & odd).choose(-result, result)
    not_real = (x < 0.0) & (x > -infinity) & (whole ^ 1)
    result = not_real.choose(float("nan"), result)
    # log2(1) times infinity, which the formula has for (-1)^inf.
    result = (size.equals(1.0) & abs(y).equals(infinity)).choose(1.0, result)
    return (x.equals(1.0) | y.equals(0.0)).choose(1.0, result)


def power_int(x: Number, n: Number) -> Number:
    """x^n for a 32-bit integer n."""
    wide = n.cast("sitofp", "double")
    if x.type.scalar == "double":
        return lane_by_lane("pow", F64, [x, wide])
    odd = (n & 1).differs(0)
    size = abs(x).cast("fpext", "double")
    result = exp2(wide * log2(size)).cast("fptrunc", "float")
    result = ((x.bits() < 0) & odd).choose(-result, result)
    return (x.equals(1.0) | n.equals(0)).choose(1.0, result)


def cbrt(x: Number) -> Number:
    if x.type.scalar == "double":
        return lane_by_lane("cbrt", F64, [x])
    size = abs(x).cast("fpext", "double")
    return exp2(log2(size) * (1.0 / 3.0)).cast("fptrunc", "float").copysign(x)


def rcbrt(x: Number) -> Number:
    if x.type.scalar == "double":
        return 1.0 / lane_by_lane("cbrt", F64, [x])
    size = abs(x).cast("fpext", "double")
    return exp2(log2(size) * (-1.0 / 3.0)).cast("fptrunc", "float").copysign(x)


def norm(*parts: Number) -> Number:
    """sqrt of the sum of squares; infinite where any part is, even beside NaN."""
    infinity = float("inf")
    sizes = [abs(part) for part in parts]
    endless = reduce(lambda a, b: a | b, [size.equals(infinity) for size in sizes])
    if parts[0].type.scalar == "float":
        wide = [size.cast("fpext", "double") for size in sizes]
        result = _root_of_squares(wide).cast("fptrunc", "float")
    else:
        largest = reduce(lambda a, b: (a < b).choose(b, a), sizes)
        # A power of two near the largest part, so that scaling is exact.
        unit = (largest.bits() & 0x7FF0000000000000).as_float("double")
        normal = (unit > 0.0) & (unit < infinity)
        small = unit < 2.0**-1000
        unit = small.choose(2.0**-1000, normal.choose(unit, 1.0))
        # 2^1023 has no normal inverse: half of it does.
        unit = (unit > 2.0**1000).choose(2.0**1000, unit)
        result = _root_of_squares([size * (1.0 / unit) for size in sizes]) * unit
    return endless.choose(infinity, result)


def _root_of_squares(parts: Sequence[Number]) -> Number:
    total = parts[0] * parts[0]
    for part in parts[1:]:
        total = part.fma(part, total)
    return total.sqrt()


def rnorm(*parts: Number) -> Number:
    """1 / norm."""
    return 1.0 / norm(*parts)
