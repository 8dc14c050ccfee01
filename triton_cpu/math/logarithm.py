# SPDX-License-Identifier: Apache-2.0
"""log and what is made of it: log2, log10, log1p, asinh, acosh, atanh.

Method: the argument is 2^e (1 + f) with 1 + f between sqrt(1/2) and sqrt(2); log(1 + f) is a
polynomial in f (float) or in f / (2 + f), the series of the inverse hyperbolic tangent (double; as
in P. T. P. Tang, "Table-driven implementation of the logarithm function", 1990, without the
tables). Coefficients interpolate at Chebyshev nodes.
"""

from __future__ import annotations

from typing import NamedTuple

from triton_cpu.math.exponential import FORMATS, LN2, LOG10_2
from triton_cpu.math.number import Number

SQRT_HALF_BITS = {"float": 0x3F3504F3, "double": 0x3FE6A09E667F3BCD}

LOG2_E = {
    "float": (1.4426950216293335, 1.925963033500011e-08),
    "double": (1.4426950408889634, 2.0355273740931033e-17),
}
LOG10_E = {
    "float": (0.4342944920063019, -1.0103049952192578e-08),
    "double": (0.4342944819032518, 1.098319650216765e-17),
}

LOG = (
    0.3333333432674408,
    -0.24999989569187164,
    0.2000001072883606,
    -0.1666800081729889,
    0.14286524057388306,
    -0.12450743466615677,
    0.11037783324718475,
    -0.10646191984415054,
    0.1053086444735527,
    -0.062015000730752945,
)
"""(log(1 + f) - f + f^2/2) / f^3 for sqrt(1/2) <= 1 + f <= sqrt(2); relative error 1.1e-8."""

ATANH = (
    0.6666666666666666,
    0.3999999999999999,
    0.2857142857143586,
    0.22222222219710297,
    0.18181818615177278,
    0.15384573450028968,
    0.13335711085008436,
    0.11686508917312045,
    0.11896558568412165,
)
"""(2 atanh(s) - 2 s) / s^3 in s^2, for s = f / (2 + f) of the same f; relative error 2.3e-20."""


class Parts(NamedTuple):
    """log(1 + f) is ``first`` + ``second``, the second much smaller; and the exponent e."""

    first: Number
    second: Number
    exponent: Number


def _log_of_one_plus(f: Number) -> Number:
    """log(1 + f) - f."""
    half_square = f * f * 0.5
    if f.type.scalar == "float":
        return (f * f * f).fma(f.polynomial(LOG), -half_square)
    s = f / (f + 2.0)
    z = s * s
    return s * (z.fma(z.polynomial(ATANH), half_square)) - half_square


def split(x: Number) -> tuple[Number, Number]:
    """A positive finite x as f and e (a float): x = 2^e (1 + f)."""
    scalar = x.type.scalar
    form = FORMATS[scalar]
    tiny = x < 2.0 ** (1 - form.bias)
    x = tiny.choose(x * 2.0**form.mantissa, x)
    bits = x.bits() - SQRT_HALF_BITS[scalar]
    below = (bits & ((1 << form.mantissa) - 1)) + SQRT_HALF_BITS[scalar]
    exponent = (bits >> form.mantissa).cast("sitofp", scalar)
    return below.as_float(scalar) - 1.0, exponent - tiny.choose(float(form.mantissa), x.like(0.0))


def _parts(x: Number) -> Parts:
    f, exponent = split(x)
    tail = _log_of_one_plus(f)
    first = f + tail
    return Parts(first, (f - first) + tail, exponent)


def _with_ends(x: Number, result: Number) -> Number:
    """The logarithms' values at 0, infinity, NaN and below 0."""
    infinity = float("inf")
    ends = x.equals(0.0).choose(-infinity, (x > 0.0).choose(x, x.like(float("nan"))))
    return ((x > 0.0) & (x < infinity)).choose(result, ends)


def log(x: Number) -> Number:
    f, exponent = split(x)
    high, low = LN2[x.type.scalar]
    tail = exponent.fma(low, _log_of_one_plus(f))
    return _with_ends(x, exponent.fma(high, f + tail))


def log2(x: Number) -> Number:
    first, second, exponent = _parts(x)
    high, low = LOG2_E[x.type.scalar]
    tail = first.fma(low, second * high)
    # The product's own rounding error goes into the tail, which matters where e is 0.
    product = first * high
    tail = tail + first.fma(high, -product)
    total = exponent + product
    tail = tail + ((exponent - total) + product)
    return _with_ends(x, total + tail)


def log10(x: Number) -> Number:
    scalar = x.type.scalar
    first, second, exponent = _parts(x)
    high, low = LOG10_E[scalar]
    high_two, low_two = LOG10_2[scalar]
    tail = exponent.fma(low_two, first.fma(low, second * high))
    product = first * high
    tail = tail + first.fma(high, -product)
    whole = exponent * high_two
    tail = tail + exponent.fma(high_two, -whole)
    total = whole + product
    tail = tail + ((whole - total) + product)
    return _with_ends(x, total + tail)


def _log1p(x: Number) -> Number:
    """For x > -1 and finite."""
    scalar = x.type.scalar
    form = FORMATS[scalar]
    bits = (x + 1.0).bits() - SQRT_HALF_BITS[scalar]
    exponent = bits >> form.mantissa
    # 1 + f = (1 + x) 2^-e, of which only the sum is rounded: 2^-e - 1 is exact where it matters.
    inverse = ((form.bias - exponent) << form.mantissa).as_float(scalar)
    below = (bits & ((1 << form.mantissa) - 1)) + SQRT_HALF_BITS[scalar]
    f = (x < 2.0**60).choose(x.fma(inverse, inverse - 1.0), below.as_float(scalar) - 1.0)
    whole = exponent.cast("sitofp", scalar)
    high, low = LN2[scalar]
    return whole.fma(high, f + whole.fma(low, _log_of_one_plus(f)))


def log1p(x: Number) -> Number:
    infinity = float("inf")
    ends = x.equals(-1.0).choose(-infinity, (x > 0.0).choose(x, x.like(float("nan"))))
    result = ((x > -1.0) & (x < infinity)).choose(_log1p(x), ends)
    return x.equals(0.0).choose(x, result)


def asinh(x: Number) -> Number:
    size = abs(x if x.type.scalar == "double" else x.cast("fpext", "double"))
    square = size * size
    result = _log1p(size + square / ((square + 1.0).sqrt() + 1.0))
    if x.type.scalar == "double":
        # The square overflows long before the logarithm does.
        large = log(size) + LN2["double"][0]
        result = (size > 2.0**28).choose(large, result)
    result = (size < float("inf")).choose(result, size)
    return _like(result, x).copysign(x)


def acosh(x: Number) -> Number:
    wide = x if x.type.scalar == "double" else x.cast("fpext", "double")
    above = wide - 1.0
    result = _log1p(above + (above * (above + 2.0)).sqrt())
    if x.type.scalar == "double":
        result = (wide > 2.0**28).choose(log(wide) + LN2["double"][0], result)
    result = (wide < float("inf")).choose(result, wide)
    return _like((wide < 1.0).choose(float("nan"), result), x)


def atanh(x: Number) -> Number:
    wide = abs(x if x.type.scalar == "double" else x.cast("fpext", "double"))
    return _like(log1p((wide + wide) / (1.0 - wide)) * 0.5, x).copysign(x)


def _like(result: Number, x: Number) -> Number:
    return result if x.type.scalar == "double" else result.cast("fptrunc", "float")
