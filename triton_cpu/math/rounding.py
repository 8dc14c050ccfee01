# SPDX-License-Identifier: Apache-2.0
"""Rounding to whole numbers, remainders, and arithmetic rounded in a direction of choice.

Directed arithmetic: the nearest result, the sign of what it lost (exact by D. Knuth's two-sum or
by one fma), and a step to the neighbour where the nearest is on the wrong side.
"""

from __future__ import annotations

from triton_cpu.llvm.emit import F32, F64
from triton_cpu.math.number import Number, lane_by_lane, where_rare

INFINITY = float("inf")


def floor(x: Number) -> Number:
    return x.intrinsic("floor")


def ceil(x: Number) -> Number:
    return x.intrinsic("ceil")


def trunc(x: Number) -> Number:
    return x.intrinsic("trunc")


def rint(x: Number) -> Number:
    """Ties to even."""
    return x.intrinsic("rint")


def round_away(x: Number) -> Number:
    """Ties away from zero."""
    return x.intrinsic("round")


def fmod(x: Number, y: Number) -> Number:
    """x - trunc(x / y) y, exactly, with the sign of x; NaN for y = 0 or an infinite x."""
    if x.type.scalar == "double":
        return lane_by_lane("fmod", F64, [x, y])
    a, b = abs(x).cast("fpext", "double"), abs(y).cast("fpext", "double")
    quotient = (a / b).intrinsic("trunc")
    rest = (-quotient).fma(b, a)
    # The quotient may have been rounded up to a whole number.
    rest = (rest < 0.0).choose(rest + b, rest)
    rest = (b.equals(INFINITY) & (a < INFINITY)).choose(a, rest)
    usual = rest.cast("fptrunc", "float").copysign(x)
    # Up to 2^29 its product with 24 bits is exact.
    far = (quotient > 2.0**29) & (quotient < INFINITY)
    return where_rare(far, usual, lambda: lane_by_lane("fmodf", F32, [x, y]))


def remainder(x: Number, y: Number) -> Number:
    """x - n y for the whole n nearest to x / y, ties to even."""
    name, kind = ("remainder", F64) if x.type.scalar == "double" else ("remainderf", F32)
    return lane_by_lane(name, kind, [x, y])


def step_up(x: Number) -> Number:
    """The next float toward plus infinity; infinity and NaN stay."""
    bits = x.bits()
    moved = (bits < 0).choose(bits - 1, bits + 1).as_float(x.type.scalar)
    smallest = x.like(0).bits() + 1
    moved = x.equals(0.0).choose(smallest.as_float(x.type.scalar), moved)
    return (x < INFINITY).choose(moved, x)


def step_down(x: Number) -> Number:
    return -step_up(-x)


def directed(nearest: Number, lost: Number, mode: str) -> Number:
    """``nearest`` moved so that it is right for ``mode``: rn, rz, rd or ru.

    ``lost`` has the sign of exact value minus ``nearest``.
    """
    if mode == "rn":
        return nearest
    down, up = lost < 0.0, lost > 0.0
    if mode == "rz":
        down, up = down & (nearest > 0.0), up & (nearest < 0.0)
    result = nearest
    if mode in ("rd", "rz"):
        result = down.choose(step_down(nearest), result)
    if mode in ("ru", "rz"):
        result = up.choose(step_up(nearest), result)
    return result


def _lost_in_sum(a: Number, b: Number, total: Number) -> Number:
    virtual = total - a
    return (a - (total - virtual)) + (b - virtual)


def add(a: Number, b: Number, mode: str) -> Number:
    total = a + b
    # Beyond the range the nearest is infinite, and only the two finite operands know better.
    lost = _lost_in_sum(a, b, total)
    return directed(
        total, _or_overflow(lost, total, (abs(a) < INFINITY) & (abs(b) < INFINITY)), mode
    )


def subtract(a: Number, b: Number, mode: str) -> Number:
    return add(a, -b, mode)


def _or_overflow(lost: Number, nearest: Number, finite: Number) -> Number:
    over = abs(nearest).equals(INFINITY) & finite
    return over.choose(-nearest, lost)


def multiply(a: Number, b: Number, mode: str) -> Number:
    product = a * b
    lost = a.fma(b, -product)
    finite = (abs(a) < INFINITY) & (abs(b) < INFINITY)
    return directed(product, _or_overflow(lost, product, finite), mode)


def divide(a: Number, b: Number, mode: str) -> Number:
    quotient = a / b
    lost = (-quotient).fma(b, a)
    lost = (b < 0.0).choose(-lost, lost)
    finite = (abs(a) < INFINITY) & b.differs(0.0)
    return directed(quotient, _or_overflow(lost, quotient, finite), mode)


def reciprocal(x: Number, mode: str) -> Number:
    return divide(x.like(1.0), x, mode)


def square_root(x: Number, mode: str) -> Number:
    root = x.sqrt()
    return directed(root, (-root).fma(root, x), mode)


def multiply_add(a: Number, b: Number, c: Number, mode: str) -> Number:
    """a b + c, rounded once in the direction of ``mode``.

    The error of one fma is that of S. Boldo and J.-M. Muller, "Exact and approximated error of the
    FMA", 2011.
    """
    result = a.fma(b, c)
    if mode == "rn":
        return result
    high = a * b
    low = a.fma(b, -high)
    alpha = c + low
    alpha_lost = _lost_in_sum(c, low, alpha)
    beta = high + alpha
    beta_lost = _lost_in_sum(high, alpha, beta)
    lost = ((beta - result) + beta_lost) + alpha_lost
    finite = (abs(a) < INFINITY) & (abs(b) < INFINITY) & (abs(c) < INFINITY)
    return directed(result, _or_overflow(lost, result, finite), mode)


def narrow(x: Number, mode: str) -> Number:
    """double to float."""
    nearest = x.cast("fptrunc", "float")
    back = nearest.cast("fpext", "double")
    lost = (x - back).cast("fptrunc", "float")
    # The difference may be too small for a float; its sign is what counts.
    one = lost.like(1.0)
    lost = (x > back).choose(one, (x < back).choose(-one, lost))
    return directed(nearest, _or_overflow(lost, nearest, abs(x) < INFINITY), mode)


def to_whole(x: Number, mode: str) -> Number:
    """To a whole number, still a float."""
    return x.intrinsic({"rn": "rint", "rz": "trunc", "rd": "floor", "ru": "ceil"}[mode])


def nextafter(x: Number, toward: Number) -> Number:
    moved = (toward > x).choose(step_up(x), step_down(x))
    moved = x.equals(toward).choose(toward, moved)
    return (x.is_nan() | toward.is_nan()).choose(x + toward, moved)
