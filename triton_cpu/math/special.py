# SPDX-License-Identifier: Apache-2.0
"""Functions too rare to be worth a vector form: the C library's, lane by lane; and modified
Bessel functions, which it lacks.
"""

from __future__ import annotations

from collections.abc import Callable
from math import factorial

from triton_cpu.llvm.emit import F64, Type
from triton_cpu.math.exponential import exp
from triton_cpu.math.number import Number, lane_by_lane

SQRT_TWO_PI = 2.5066282746310002
SERIES_TERMS = 42
"""Of the power series at \\|x\\| = 20, until terms fall below 2^-55 of the sum."""
ASYMPTOTIC_TERMS = 26
"""Of the series in 1/x at \\|x\\| = 20, likewise."""


def from_library(name: str) -> Callable[..., Number]:
    """The C function for doubles, used for floats too: it is right to the last place there."""

    def function(*arguments: Number) -> Number:
        narrow = any(argument.type.scalar == "float" for argument in arguments)
        wide = [
            argument.cast("fpext", "double") if argument.type.scalar == "float" else argument
            for argument in arguments
        ]
        result = lane_by_lane(name, F64, wide)
        return result.cast("fptrunc", "float") if narrow else result

    return function


def modified_bessel(order: int) -> Callable[[Number], Number]:
    """I0 or I1: the power series (all its terms positive) up to 20, beyond it Hankel's asymptotic
    series (M. Abramowitz, I. Stegun, 9.6.10 and 9.7.1)."""
    series = [1.0 / (factorial(k) * factorial(k + order)) for k in range(SERIES_TERMS)]
    asymptotic = [1.0]
    for k in range(1, ASYMPTOTIC_TERMS):
        asymptotic.append(asymptotic[-1] * ((2 * k - 1) ** 2 - 4 * order**2) / (8.0 * k))

    def function(x: Number) -> Number:
        wide = x.cast("fpext", "double") if x.type.scalar == "float" else x
        size = abs(wide)
        half = (size > 20.0).choose(20.0, size) * 0.5
        near = (half * half).polynomial(series)
        if order:
            near = near * half
        bounded = (size > 20.0).choose(size, 20.0)
        # Half the exponent twice, because exp overflows before the quotient does.
        root = exp(bounded * 0.5)
        far = (1.0 / bounded).polynomial(asymptotic) * root / (bounded.sqrt() * SQRT_TWO_PI) * root
        far = size.equals(float("inf")).choose(size, far)
        result = (size > 20.0).choose(far, near)
        if order:
            result = result.copysign(wide)
        return result.cast("fptrunc", "float") if x.type.scalar == "float" else result

    return function


def load_exponent(x: Number, n: Number) -> Number:
    """x 2^n, rounded once."""
    scalar = x.type.scalar
    name = f"llvm.ldexp.{x.type.suffix}.{n.type.suffix}"
    if not x.type.lanes:
        return Number(x.emitter, x.emitter.call(name, x.type, [x.value, n.value]))
    kind = Type(scalar)
    return lane_by_lane("ldexp" + ("f" if scalar == "float" else ""), kind, [x, n])


def exponent_of(x: Number) -> Number:
    """floor(log2 |x|) as a float (logb): -inf for 0, inf for infinities."""
    scalar = x.type.scalar
    mantissa, bias = (23, 127) if scalar == "float" else (52, 1023)
    size = abs(x)
    tiny = size < 2.0 ** (1 - bias)
    scaled = tiny.choose(size * 2.0**mantissa, size)
    exponent = scaled.bits().shift_right(mantissa) - bias
    result = exponent.cast("sitofp", scalar) - tiny.choose(float(mantissa), x.like(0.0))
    result = size.equals(0.0).choose(float("-inf"), result)
    return (size < float("inf")).choose(result, size)


def integer_exponent_of(x: Number) -> Number:
    """The same as i32 (ilogb): INT_MIN for 0 and NaN, INT_MAX for infinities."""
    exponent = exponent_of(x)
    whole = (abs(exponent) < 2.0**30).choose(exponent, 0.0).cast("fptosi", "i32")
    whole = exponent.equals(float("inf")).choose(2**31 - 1, whole)
    return (exponent.is_nan() | exponent.equals(float("-inf"))).choose(-(2**31), whole)


def positive_difference(x: Number, y: Number) -> Number:
    """x - y where it is positive, else 0; NaN stays (fdim)."""
    return (x <= y).choose(0.0, x - y)


def saturate(x: Number) -> Number:
    """To [0, 1]; NaN becomes 0, as on NVIDIA GPUs."""
    bounded = (x > 1.0).choose(1.0, x)
    return (bounded > 0.0).choose(bounded, 0.0)


def high_word_of_reciprocal(x: Number) -> Number:
    """1/x with the lower half of its bits zero (rcp64h)."""
    return ((1.0 / x).bits() & -(2**32)).as_float("double")
