# SPDX-License-Identifier: Apache-2.0
"""sin, cos, tan, their multiples of pi, and their inverses.

Method: Cody and Waite's reduction by multiples of pi/2, in double also for float: the first step
``x - n * (pi/2 as a double)`` is exact under one fma, so that two or three steps are right as long
as n is a whole number of few enough bits. Beyond that the C library reduces lane by lane. The
polynomials interpolate at Chebyshev nodes.
"""

from __future__ import annotations

from triton_cpu.llvm.emit import F32, F64
from triton_cpu.math.exponential import FORMATS
from triton_cpu.math.number import Number, lane_by_lane, where_rare

TWO_OVER_PI = 0.6366197723675814
PI_2 = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33)
PI = (3.141592653589793, 1.2246467991473532e-16)

SIN = {
    "float": (
        -0.1666666716337204,
        0.008333331905305386,
        -0.00019840063760057092,
        2.7246869649388827e-06,
    ),
    "double": (
        -0.16666666666666666,
        0.008333333333333331,
        -0.00019841269841264821,
        2.7557319219150783e-06,
        -2.5052106167335705e-08,
        1.6058521349954986e-10,
        -7.586094789672621e-13,
    ),
}
"""(sin(r) - r) / r^3 in r^2, for \\|r\\| <= pi/4; relative error 1.8e-10 and 7.7e-20."""

COS = {
    "float": (0.0416666641831398, -0.0013888290850445628, 2.454541936458554e-05),
    "double": (
        0.041666666666666664,
        -0.0013888888888888887,
        2.480158730158451e-05,
        -2.755731922129809e-07,
        2.0876755754879594e-09,
        -1.1470455178216906e-11,
        4.745537017319258e-14,
    ),
}
"""(cos(r) - 1 + r^2/2) / r^4 in r^2, for \\|r\\| <= pi/4; relative error 5e-8 and 1.7e-20."""

ATAN = (
    -0.3333333333230858,
    0.1999999965269345,
    -0.14285694570640292,
    0.11110666303625419,
    -0.09085624177887072,
    0.07654295472644398,
    -0.06487062356606563,
    0.052943908816199266,
    -0.038767022568525905,
    0.02324837369843582,
    -0.010257166271499646,
    0.002875485609943425,
    -0.0003778858076662609,
)
"""(atan(x) - x) / x^3 in x^2, for \\|x\\| <= 1; relative error 3.1e-11: for float results."""

ATAN_PI_8 = (
    -0.3333333333333333,
    0.199999999999998,
    -0.14285714285659326,
    0.11111111105106705,
    -0.09090908751076636,
    0.0769229630497447,
    -0.06666423628069258,
    0.058789145444006215,
    -0.052303478730160745,
    0.04551108126325172,
    -0.034558092551413795,
    0.01627194475162406,
)
"""The same for \\|x\\| <= tan(pi/8); relative error 3.5e-18."""

ASIN = (
    0.16666666666666666,
    0.07499999999999991,
    0.0446428571428834,
    0.030381944441363808,
    0.02237215927967998,
    0.017352757477819787,
    0.013965009932053607,
    0.011549086612987425,
    0.009792751320201996,
    0.008135829925501657,
    0.00879500607648843,
    0.000380853033290726,
    0.022553563638202982,
    -0.024020544918554605,
    0.030718768995191097,
)
"""(asin(x) - x) / x^3 in x^2, for \\|x\\| <= 0.5; relative error 3.4e-19."""

LARGEST = {"float": 2.0**40, "double": 2.0**28}
"""Up to here n = x 2/pi comes out whole and the reduction is right to the last places."""


def _reduce(x: Number) -> tuple[Number, Number, Number]:
    """x - n pi/2 as a sum of two doubles, and n as an integer (of which the low bits count)."""
    form = FORMATS["double"]
    shifted = x.fma(TWO_OVER_PI, form.magic)
    n = shifted - form.magic
    rough = n.fma(-PI_2[0], x)
    first = n.fma(-PI_2[1], rough)
    second = n.fma(-PI_2[2], n.fma(-PI_2[1], rough - first))
    return first, second, shifted.bits()


def _sin_core(r: Number, tail: Number | None) -> Number:
    square = r * r
    cubic = (square * r) * square.polynomial(SIN[r.type.scalar])
    if tail is not None:
        cubic = square.fma(tail * -0.5, tail) + cubic
    return r + cubic


def _cos_core(r: Number, tail: Number | None) -> Number:
    square = r * r
    half = square * 0.5
    head = 1.0 - half
    # What the subtraction lost comes back with the small terms.
    rest = (square * square).fma(square.polynomial(COS[r.type.scalar]), (1.0 - head) - half)
    if tail is not None:
        rest = rest - r * tail
    return head + rest


def _by_quadrant(r: Number, tail: Number | None, quadrant: Number) -> Number:
    """sin(r + quadrant pi/2); ``quadrant`` is an integer of r's width."""
    odd = (quadrant & 1).differs(0)
    value = odd.choose(_cos_core(r, tail), _sin_core(r, tail))
    sign = (quadrant & 2) << (quadrant.type.bits - 2)
    return (value.bits() ^ sign).as_float(r.type.scalar)


def _sin_or_cos(x: Number, shift: int, library: str) -> Number:
    scalar = x.type.scalar
    wide = x.cast("fpext", "double") if scalar == "float" else x
    first, second, n = _reduce(wide)
    if scalar == "float":
        quadrant = n.resize("i32") + shift
        usual = _by_quadrant(first.cast("fptrunc", "float"), None, quadrant)
    else:
        usual = _by_quadrant(first, second, n + shift)
    if shift == 0:
        usual = x.equals(0.0).choose(x, usual)
    return _beyond(x, usual, library)


def _beyond(x: Number, usual: Number, library: str) -> Number:
    scalar = x.type.scalar
    far = (abs(x) > LARGEST[scalar]) & (abs(x) < float("inf"))
    kind = F32 if scalar == "float" else F64
    name = library + ("f" if scalar == "float" else "")
    return where_rare(far, usual, lambda: lane_by_lane(name, kind, [x]))


def sin(x: Number) -> Number:
    return _sin_or_cos(x, 0, "sin")


def cos(x: Number) -> Number:
    return _sin_or_cos(x, 1, "cos")


def tan(x: Number) -> Number:
    scalar = x.type.scalar
    first, second, n = _reduce(x.cast("fpext", "double") if scalar == "float" else x)
    tail = None if scalar == "float" else second
    sine, cosine = _sin_core(first, tail), _cos_core(first, tail)
    odd = (n & 1).differs(0)
    result = odd.choose(-cosine, sine) / odd.choose(sine, cosine)
    usual = result.cast("fptrunc", "float") if scalar == "float" else result
    return _beyond(x, x.equals(0.0).choose(x, usual), "tan")


def _multiple_of_pi(x: Number, shift: int) -> Number:
    wide = x.cast("fpext", "double") if x.type.scalar == "float" else x
    # From 2^53 on all are even; times zero also makes NaN of infinities.
    wide = (abs(wide) < 2.0**53).choose(wide, wide * 0.0)
    halves = (wide + wide).intrinsic("rint")
    rest = wide - halves * 0.5
    # The quadrant is taken in floats, because halves may have more bits than an integer.
    turns = halves - (halves * 0.25).intrinsic("floor") * 4.0
    quadrant = (turns + FORMATS["double"].magic).bits() + shift
    angle = rest * PI[0]
    tail = rest.fma(PI[1], rest.fma(PI[0], -angle))
    result = _by_quadrant(angle, tail, quadrant)
    return result.cast("fptrunc", "float") if x.type.scalar == "float" else result


def sinpi(x: Number) -> Number:
    """sin(pi x); a zero has the sign of x."""
    result = _multiple_of_pi(x, 0)
    whole = x.intrinsic("rint").equals(x) & (abs(x) < float("inf"))
    return whole.choose(x.like(0.0).copysign(x), result)


def cospi(x: Number) -> Number:
    """cos(pi x); a zero is positive."""
    result = _multiple_of_pi(x, 1)
    return result.equals(0.0).choose(0.0, result)


def _asin_core(r: Number, square: Number) -> Number:
    return (square * r).fma(square.polynomial(ASIN), r)


def asin(x: Number) -> Number:
    wide = abs(x.cast("fpext", "double") if x.type.scalar == "float" else x)
    near = wide > 0.5
    half = (1.0 - wide) * 0.5
    square = near.choose(half, wide * wide)
    core = _asin_core(near.choose(half.sqrt(), wide), square)
    result = near.choose(PI_2[0] - (core + core - PI_2[1]), core)
    return _like(result, x).copysign(x)


def acos(x: Number) -> Number:
    wide = x.cast("fpext", "double") if x.type.scalar == "float" else x
    size = abs(wide)
    near = size > 0.5
    half = (1.0 - size) * 0.5
    square = near.choose(half, wide * wide)
    core = _asin_core(near.choose(half.sqrt(), wide), square)
    double = core + core
    end = (wide > 0.0).choose(double, PI[0] - (double - PI[1]))
    return _like(near.choose(end, PI_2[0] - (core - PI_2[1])), x)


def atan(x: Number) -> Number:
    if x.type.scalar == "double":
        high, low = _steep_angle(abs(x), x.like(1.0))
        return (high + low).copysign(x)
    wide = abs(x.cast("fpext", "double"))
    large = wide > 1.0
    r = large.choose(1.0 / wide, wide)
    square = r * r
    core = (square * r).fma(square.polynomial(ATAN), r)
    return large.choose(PI_2[0] - core, core).cast("fptrunc", "float").copysign(x)


def _steep_angle(up: Number, right: Number) -> tuple[Number, Number]:
    """The angle of a point with positive coordinates as a sum, the larger term first: pi/2, pi/4
    or 0, and an angle of at most pi/8 (the reduction of the tangent's addition theorem)."""
    steep = up > right * 2.414213562373095
    middle = up > right * 0.41421356237309503
    top = steep.choose(-right, middle.choose(up - right, up))
    bottom = steep.choose(up, middle.choose(up + right, right))
    r = top / bottom
    square = r * r
    core = (square * r).fma(square.polynomial(ATAN_PI_8), r)
    high = steep.choose(PI_2[0], middle.choose(PI_2[0] / 2, up.like(0.0)))
    low = steep.choose(PI_2[1], middle.choose(PI_2[1] / 2, up.like(0.0)))
    return high, core + low


def _atan2_double(y: Number, x: Number) -> Number:
    infinity = float("inf")
    up, right = abs(y), abs(x)
    # So that their sum stays in range.
    large = (up > 2.0**1000) | (right > 2.0**1000)
    both = up.equals(infinity) & right.equals(infinity)
    up_scaled = both.choose(1.0, large.choose(up * 0.25, up))
    right_scaled = both.choose(1.0, large.choose(right * 0.25, right))
    nothing = up.equals(0.0) & right.equals(0.0)
    right_scaled = nothing.choose(1.0, right_scaled)
    high, low = _steep_angle(up_scaled, right_scaled)
    left = x.bits() < 0
    result = left.choose((PI[0] - high) + (PI[1] - low), high + low)
    return result.copysign(y)


def atan2(y: Number, x: Number) -> Number:
    """The angle of the point (x, y), by C99's rules for zeros and infinities."""
    if x.type.scalar == "double":
        return _atan2_double(y, x)
    up, right = abs(y.cast("fpext", "double")), abs(x.cast("fpext", "double"))
    steep = up > right
    low, high = steep.choose(right, up), steep.choose(up, right)
    ratio = low / high
    ratio = high.equals(0.0).choose(0.0, low.equals(float("inf")).choose(1.0, ratio))
    square = ratio * ratio
    core = (square * ratio).fma(square.polynomial(ATAN), ratio)
    core = steep.choose(PI_2[0] - core, core)
    core = (x.bits() < 0).choose(PI[0] - core, core)
    core = core + (up.is_nan() | right.is_nan()).choose(float("nan"), core.like(0.0))
    return core.cast("fptrunc", "float").copysign(y)


def _like(result: Number, x: Number) -> Number:
    return result if x.type.scalar == "double" else result.cast("fptrunc", "float")
