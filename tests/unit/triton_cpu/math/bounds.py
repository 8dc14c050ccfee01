# SPDX-License-Identifier: Apache-2.0
"""How far each function may be from the exact value, in units of the last place, and why."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import mpmath
import numpy as np

Reference = Callable[..., np.ndarray]


class Bound(NamedTuple):
    """``single`` and ``double`` are in ulp of the result's type."""

    single: float
    double: float
    reference: Reference
    """Over arrays of np.longdouble, whose 64-bit mantissa leaves 11 bits over double."""
    span: tuple[float, float] = (-20.0, 20.0)
    """Where dense arguments are drawn; edge values come on top."""
    arguments: int = 1
    costly: bool = False
    """The reference goes through mpmath: fewer points."""


def from_mpmath(function: Callable[..., mpmath.mpf]) -> Reference:
    def one(*arguments: np.longdouble) -> np.longdouble:
        values = [float(argument) for argument in arguments]
        if any(value != value for value in values):
            return np.longdouble("nan")
        with mpmath.workprec(120):
            try:
                result = function(*[mpmath.mpf(value) for value in values])
            except (ValueError, ZeroDivisionError):
                return np.longdouble("nan")
            if not isinstance(result, mpmath.mpf):
                return np.longdouble("nan")
            return np.longdouble(mpmath.nstr(result, 25))

    return np.vectorize(one, otypes=[np.longdouble])


def _remainder(x: np.longdouble, y: np.longdouble) -> float:
    try:
        return math.remainder(float(x), float(y))
    except ValueError:
        return math.nan


def _erfcinv(p: mpmath.mpf) -> mpmath.mpf:
    with mpmath.workprec(1300):
        return mpmath.erfinv(1 - p)


def _bessel(order: int) -> Callable[[mpmath.mpf], mpmath.mpf]:
    def function(x: mpmath.mpf) -> mpmath.mpf:
        if mpmath.isinf(x):
            return mpmath.inf * (x if order else 1)
        return mpmath.besseli(order, x)

    return function


ROUNDED = 0.501
"""One rounding, of a value computed in a wider type or by an exact instruction."""
LONG_SUM = 1.25
"""A polynomial's last sum rounds to half a place, its smaller terms add little."""
TWO_STEPS = 2.0
"""Two or three roundings of the size of the result."""

LN_10 = np.log(np.longdouble(10))
PI = np.longdouble("3.14159265358979323846264338327950288")

BOUNDS = {
    "math.exp": Bound(LONG_SUM, LONG_SUM, np.exp, (-110, 95)),
    "math.exp2": Bound(LONG_SUM, LONG_SUM, np.exp2, (-155, 130)),
    "__nv_exp10": Bound(LONG_SUM, LONG_SUM, lambda x: 10**x, (-46, 39)),
    # expm1 adds 2^n - 1 to the scaled polynomial: two roundings near -1/2 and 1.
    "math.expm1": Bound(TWO_STEPS, TWO_STEPS, np.expm1, (-30, 60)),
    "math.log": Bound(LONG_SUM, LONG_SUM, np.log, (0, 30)),
    # The product with log2(e) or log10(e) is carried in two parts.
    "math.log2": Bound(LONG_SUM, LONG_SUM, np.log2, (0, 30)),
    "math.log10": Bound(LONG_SUM, LONG_SUM, np.log10, (0, 30)),
    "math.log1p": Bound(TWO_STEPS, TWO_STEPS, np.log1p, (-1, 30)),
    # The reduced argument is rounded to float too.
    "math.sin": Bound(TWO_STEPS, LONG_SUM, np.sin, (-100, 100)),
    "math.cos": Bound(TWO_STEPS, LONG_SUM, np.cos, (-100, 100)),
    "math.tan": Bound(ROUNDED, TWO_STEPS, np.tan, (-100, 100)),
    "math.sinh": Bound(ROUNDED, TWO_STEPS, np.sinh, (-90, 90)),
    "math.cosh": Bound(ROUNDED, TWO_STEPS, np.cosh, (-90, 90)),
    # 1 - 2/(e+1) loses a place below 1; double divides two results of expm1.
    "math.tanh": Bound(LONG_SUM, 3.0, np.tanh),
    # Near 1, pi/2 less twice a rounded root.
    "math.asin": Bound(ROUNDED, 3.0, np.arcsin, (-1, 1)),
    "math.acos": Bound(ROUNDED, TWO_STEPS, np.arccos, (-1, 1)),
    # pi/4 less an angle whose tangent took three roundings.
    "math.atan": Bound(ROUNDED, 2.5, np.arctan),
    "math.atan2": Bound(ROUNDED, 2.5, np.arctan2, arguments=2),
    "math.asinh": Bound(ROUNDED, 3.0, np.arcsinh),
    "math.acosh": Bound(ROUNDED, 3.0, np.arccosh, (1, 30)),
    "math.atanh": Bound(ROUNDED, 3.0, np.arctanh, (-1, 1)),
    "math.sqrt": Bound(ROUNDED, ROUNDED, np.sqrt, (0, 30)),
    # A quotient of a rounded root.
    "math.rsqrt": Bound(1.5, 1.5, lambda x: 1 / np.sqrt(x), (0, 30)),
    # glibc states 4 for its own cbrt.
    "math.cbrt": Bound(ROUNDED, 4.0, np.cbrt),
    "math.powf": Bound(ROUNDED, LONG_SUM, np.power, (0, 30), arguments=2),
    "__nv_hypot": Bound(ROUNDED, TWO_STEPS, np.hypot, arguments=2),
    "arith.remf": Bound(0.0, 0.0, np.fmod, arguments=2),
    "__nv_remainder": Bound(
        0.0,
        0.0,
        np.vectorize(_remainder, otypes=[np.longdouble]),
        arguments=2,
    ),
    "math.floor": Bound(0.0, 0.0, np.floor),
    "math.ceil": Bound(0.0, 0.0, np.ceil),
    "math.trunc": Bound(0.0, 0.0, np.trunc),
    "math.roundeven": Bound(0.0, 0.0, np.rint),
    "math.round": Bound(0.0, 0.0, lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x)),
    "math.absf": Bound(0.0, 0.0, np.abs),
    "math.erf": Bound(TWO_STEPS, LONG_SUM, from_mpmath(mpmath.erf), (-6, 6), costly=True),
    # A quotient times a polynomial times exp.
    "math.erfc": Bound(ROUNDED, 4.0, from_mpmath(mpmath.erfc), (-6, 10.5), costly=True),
    # The polynomial's terms alternate near x = 0; below it, 2 exp(x^2) less that.
    "__nv_erfcx": Bound(
        0.51,
        6.0,
        from_mpmath(lambda x: mpmath.exp(x * x) * mpmath.erfc(x)),
        (-5, 25),
        costly=True,
    ),
    "__nv_erfinv": Bound(0.51, 4.0, from_mpmath(mpmath.erfinv), (-1, 1), costly=True),
    "__nv_erfcinv": Bound(0.51, 4.0, from_mpmath(_erfcinv), (0.0625, 2), costly=True),
    "__nv_normcdf": Bound(0.51, 9.0, from_mpmath(mpmath.ncdf), (-7, 7), costly=True),
    "__nv_lgamma": Bound(
        ROUNDED,
        9.0,
        from_mpmath(lambda x: mpmath.log(abs(mpmath.gamma(x)))),
        (2.5, 30),
        costly=True,
    ),
    "__nv_tgamma": Bound(ROUNDED, 9.0, from_mpmath(mpmath.gamma), (0.1, 30), costly=True),
    # sinpi and cospi round the angle r pi in two parts.
    "__nv_sinpi": Bound(ROUNDED, LONG_SUM, from_mpmath(mpmath.sinpi), costly=True),
    "__nv_cospi": Bound(ROUNDED, LONG_SUM, from_mpmath(mpmath.cospi), costly=True),
    # The sum of 42 positive terms, and exp(x/2) twice.
    "__nv_cyl_bessel_i0": Bound(ROUNDED, 8.0, from_mpmath(_bessel(0)), (-60, 60), costly=True),
    "__nv_cyl_bessel_i1": Bound(ROUNDED, 8.0, from_mpmath(_bessel(1)), (-60, 60), costly=True),
}
