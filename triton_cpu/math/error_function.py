# SPDX-License-Identifier: Apache-2.0
"""erf, erfc, their scaled and inverse forms, and the normal distribution made of them.

float: near zero erf is an odd polynomial; further out erf = 1 - exp(p) with a polynomial p for
log erfc; erfc is exp(-x^2) times a polynomial in 4 / (4 + x), as in W. J. Cody, "Rational
Chebyshev approximations for the error function", 1969, with our own coefficients. double: the C
library, lane by lane. Inverses: a starting value, then Newton's steps in double.
"""

from __future__ import annotations

from triton_cpu.llvm.emit import F64
from triton_cpu.math.exponential import exp
from triton_cpu.math.logarithm import log
from triton_cpu.math.number import Number, lane_by_lane

ERF = (
    0.1283791670955126,
    -0.37612637877464294,
    0.11283791065216064,
    -0.026866132393479347,
    0.005223783664405346,
    -0.0008542637806385756,
    0.00011956562229897827,
    -1.3909339941164944e-05,
    1.0589380963210715e-06,
)
"""erf(x) / x - 1 in x^2, for \\|x\\| <= 1; relative error 9.1e-13."""

LOG_ERFC = (
    0.00041632921784184873,
    -1.130675196647644,
    -0.6309530138969421,
    -0.11105501651763916,
    0.027099523693323135,
    -0.005064947064965963,
    0.0006858366541564465,
    -6.229834980331361e-05,
    3.321684516777168e-06,
    -7.582681860185403e-08,
)
"""log erfc(x), for 1 <= x <= 4; relative error 4.5e-9. From 4 on erf is 1 in float."""

ERFCX = (
    -1.4561855414352013e-05,
    0.14144025728275758,
    0.13620546648570497,
    0.17276305611543474,
    -0.05434496326663314,
    0.7714074527871312,
    -1.6413202041852872,
    3.522370923669959,
    -5.016053836374215,
    5.5692156283120795,
    -4.268014281703218,
    2.263181835572775,
    -0.6825543670563722,
    0.08571759421504863,
)
"""exp(x^2) erfc(x) in 4 / (4 + x), for 0 <= x <= 10.5; relative error 3.8e-11."""

LN_2 = 0.6931471805599453
SQRT_HALF = 0.7071067811865476
SQRT_HALF_REST = -4.833646656726457e-17
TWO_OVER_SQRT_PI = 1.1283791670955126
ONE_OVER_SQRT_PI = 0.5641895835477563


def _wide(x: Number) -> Number:
    return x if x.type.scalar == "double" else x.cast("fpext", "double")


def _like(result: Number, x: Number) -> Number:
    return result if x.type.scalar == "double" else result.cast("fptrunc", "float")


def erf(x: Number) -> Number:
    if x.type.scalar == "double":
        return lane_by_lane("erf", F64, [x])
    size = abs(x)
    near = x.fma((x * x).polynomial(ERF), x)
    bounded = (size > 4.0).choose(4.0, size)
    far = 1.0 - exp(bounded.polynomial(LOG_ERFC))
    return (size < 1.0).choose(near, far.copysign(x))


def _erfc_float(wide: Number) -> Number:
    """In double, for results that a float can hold."""
    size = abs(wide)
    size = (size > 10.5).choose(10.5, size)
    t = 4.0 / (size + 4.0)
    result = exp(-(size * size)) * t.polynomial(ERFCX)
    return (wide < 0.0).choose(2.0 - result, result)


def erfc(x: Number) -> Number:
    if x.type.scalar == "double":
        return lane_by_lane("erfc", F64, [x])
    return _erfc_float(x.cast("fpext", "double")).cast("fptrunc", "float")


def erfcx(x: Number) -> Number:
    """exp(x^2) erfc(x), by its asymptotic series where erfc would be too small to hold."""
    wide = _wide(x)
    bounded = (wide > 10.0).choose(10.0, wide)
    square = bounded * bounded
    # exp(x^2) needs the square's rounding error too.
    lost = bounded.fma(bounded, -square)
    product = exp(square) * lane_by_lane("erfc", F64, [bounded])
    near = product.fma(lost, product)
    return _like((wide > 10.0).choose(_erfcx_far(wide), near), x)


def _erfcx_far(x: Number) -> Number:
    """For doubles from 10 on, where the asymptotic series' 12th term falls below 1e-16."""
    inverse = 0.5 / (x * x)
    series = inverse.like(1.0)
    for term in range(12, 0, -1):
        series = (inverse * -(2.0 * term - 1.0)).fma(series, 1.0)
    return series * (ONE_OVER_SQRT_PI / x)


def _erfc_inverse_tail(log_p: Number) -> Number:
    """A start for erfc(x) = p, p < 1/2 (M. Abramowitz, I. Stegun, 26.2.23; error 3e-4)."""
    t = (-2.0 * log_p).sqrt()
    top = t.polynomial((2.515517, 0.802853, 0.010328))
    bottom = t.polynomial((1.0, 1.432788, 0.189269, 0.001308))
    return (t - top / bottom) * SQRT_HALF


def _positive_erfcinv(p: Number) -> Number:
    """x >= 0 with erfc(x) = p for doubles 0 < p <= 1, by Halley's steps from the tail's start."""
    log_p = log(p)
    start = _erfc_inverse_tail(log_p - LN_2)
    x = start
    for _ in range(3):
        slope = exp(-(x * x)) * TWO_OVER_SQRT_PI
        step = (lane_by_lane("erfc", F64, [x]) - p) / slope
        x = x + step / x.fma(step, 1.0)
    # Where erfc runs out of bits, Newton's steps for its logarithm.
    far = (start > 10.5).choose(start, 10.5)
    for _ in range(3):
        scaled = _erfcx_far(far)
        off = log(scaled) - far * far - log_p
        far = far + off * scaled * (1.0 / TWO_OVER_SQRT_PI)
    return (start > 12.0).choose(far, x)


def erfcinv(p: Number) -> Number:
    wide = _wide(p)
    upper = wide > 1.0
    folded = upper.choose(2.0 - wide, wide)
    near = _central(1.0 - folded)
    x = (folded > 0.5).choose(near, _positive_erfcinv(folded))
    x = folded.equals(0.0).choose(float("inf"), x)
    x = (folded < 0.0).choose(float("nan"), x)
    return _like(upper.choose(-x, x), p)


def _central(y: Number) -> Number:
    """erf(x) = y for \\|y\\| <= 0.5: Newton's steps from the series' first terms."""
    x = y * (y * y).polynomial((0.8862269254527580, 0.2320136665346545, 0.1275561753055980, 0.0865))
    for _ in range(3):
        slope = exp(-(x * x)) * TWO_OVER_SQRT_PI
        step = (lane_by_lane("erf", F64, [x]) - y) / slope
        x = x - step / x.fma(step, 1.0)
    return y.equals(0.0).choose(y, x)


def erfinv(y: Number) -> Number:
    wide = _wide(y)
    size = abs(wide)
    far = _positive_erfcinv(1.0 - size)
    x = (size > 0.5).choose(far, _central(size))
    x = size.equals(1.0).choose(float("inf"), x)
    x = (size > 1.0).choose(float("nan"), x)
    return _like(x.copysign(wide), y)


def normcdf(x: Number) -> Number:
    """The standard normal distribution function."""
    wide = _wide(x)
    scaled = wide * -SQRT_HALF
    if x.type.scalar == "float":
        return (_erfc_float(scaled) * 0.5).cast("fptrunc", "float")
    # Far out erfc multiplies the relative error of its argument by twice its square.
    lost = wide.fma(-SQRT_HALF, -scaled) - wide * SQRT_HALF_REST
    slope = exp(-(scaled * scaled)) * TWO_OVER_SQRT_PI
    slope = (slope > 0.0).choose(slope * lost, 0.0)
    return (lane_by_lane("erfc", F64, [scaled]) - slope) * 0.5


def normcdfinv(p: Number) -> Number:
    """Its inverse."""
    wide = _wide(p)
    return _like(erfcinv(wide + wide) * -1.4142135623730951, p)
