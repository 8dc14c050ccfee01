# SPDX-License-Identifier: Apache-2.0
"""erf, erfc, their scaled and inverse forms, and the normal distribution made of them.

Near zero erf is an odd polynomial; further out, in float, 1 - exp(p) with a polynomial p for
log erfc. erfc is exp(-x^2) times a polynomial in a variable that maps 0 to infinity on a finite
range (M. M. Shepherd, J. G. Laframboise, "Chebyshev approximation of (1 + 2x) exp(x^2) erfc x",
1981), with our own coefficients. Inverses: a starting value, then Halley's steps in double.
"""

from __future__ import annotations

from triton_cpu.math.exponential import exp
from triton_cpu.math.logarithm import log
from triton_cpu.math.number import Number

ERF = {
    "float": (
        0.1283791670955126,
        -0.37612637877464294,
        0.11283791065216064,
        -0.026866132393479347,
        0.005223783664405346,
        -0.0008542637806385756,
        0.00011956562229897827,
        -1.3909339941164944e-05,
        1.0589380963210715e-06,
    ),
    "double": (
        0.1283791670955126,
        -0.3761263890318375,
        0.11283791670954879,
        -0.026866170645076792,
        0.0052239776248180145,
        -0.000854832698083379,
        0.0001205533111164271,
        -1.4925595266831182e-05,
        1.6461000484121368e-06,
        -1.6350312701054695e-07,
        1.4659775274047436e-08,
        -1.1372848856791674e-09,
        5.957176147748911e-11,
    ),
}
"""erf(x) / x - 1 in x^2, for \\|x\\| <= 1; relative error 9.1e-13 and 1.9e-17."""

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

SCALED_ERFC = (
    1.2329951186255526,
    -0.13962111684056253,
    0.015379652102619558,
    0.06809705425469323,
    -0.10103906603629459,
    0.09373283499833023,
    -0.0663303658124095,
    0.03716751553777026,
    -0.01619773405599449,
    0.005031969975753176,
    -0.0007577732973669146,
    -0.00019925668432389153,
    0.00015062169704678355,
    -2.439924428312988e-05,
    -1.1222046316669005e-05,
    5.709784760966506e-06,
    2.9377854943443786e-07,
    -8.254699744871162e-07,
    7.471952780500971e-08,
    1.1005996198640057e-07,
    -1.799947545903142e-08,
    -1.4091982822555755e-08,
    1.868487385473519e-09,
    1.263782858042137e-09,
)
"""(1 + 2 x) exp(x^2) erfc(x) in (x - 4) / (x + 4), for 0 <= x <= 28; relative error 6e-17."""

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
    size = abs(x)
    near = x.fma((x * x).polynomial(ERF[x.type.scalar]), x)
    if x.type.scalar == "double":
        return (size < 1.0).choose(near, (1.0 - _erfc_double(size)).copysign(x))
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


def _scaled_erfc(x: Number) -> Number:
    """exp(x^2) erfc(x) for doubles from 0 to 28."""
    return ((x - 4.0) / (x + 4.0)).polynomial(SCALED_ERFC) / x.fma(2.0, 1.0)


def _erfc_double(x: Number) -> Number:
    """For doubles from 0 on."""
    x = (x > 28.0).choose(28.0, x)
    square = x * x
    # exp(-x^2) needs the square's rounding error too.
    lost = x.fma(x, -square)
    scaled = _scaled_erfc(x)
    return exp(-square) * (-lost).fma(scaled, scaled)


def _erfc_of_any_sign(x: Number) -> Number:
    result = _erfc_double(abs(x))
    result = (x < 0.0).choose(2.0 - result, result)
    small = x.fma((x * x).polynomial(ERF["double"]), x)
    return (abs(x) < 0.5).choose(1.0 - small, result)


def erfc(x: Number) -> Number:
    if x.type.scalar == "double":
        return _erfc_of_any_sign(x)
    return _erfc_float(x.cast("fpext", "double")).cast("fptrunc", "float")


def erfcx(x: Number) -> Number:
    """exp(x^2) erfc(x), by its asymptotic series where erfc would be too small to hold."""
    wide = _wide(x)
    size = abs(wide)
    near = _scaled_erfc((size > 10.0).choose(10.0, size))
    # 2 exp(x^2) less the value at -x; the exponential needs the square's rounding error too.
    square = wide * wide
    grown = exp(square) * 2.0
    lost = grown * wide.fma(wide, -square)
    mirrored = (grown < float("inf")).choose((grown - near) + lost, grown)
    near = (wide < 0.0).choose(mirrored, near)
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
        step = (_erfc_double(x) - p) / slope
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
        step = (erf(x) - y) / slope
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
    return (_erfc_of_any_sign(scaled) - slope) * 0.5


def normcdfinv(p: Number) -> Number:
    """Its inverse."""
    wide = _wide(p)
    return _like(erfcinv(wide + wide) * -1.4142135623730951, p)
