# SPDX-License-Identifier: Apache-2.0
"""exp and what is made of it: exp2, exp10, expm1, sinh, cosh, tanh.

Method: Cody and Waite, "Software Manual for the Elementary Functions", 1980: the argument is a
whole number of ln 2 and a rest of at most half of it; the rest goes through a polynomial, the
whole number into the exponent. The polynomials interpolate at Chebyshev nodes, their
coefficients were computed with 250 bits and rounded.
"""

from __future__ import annotations

from typing import NamedTuple

from triton_cpu.math.number import Number


class Format(NamedTuple):
    """What the reductions need to know of a float type."""

    mantissa: int
    bias: int
    magic: float
    """1.5 x 2^mantissa: added to a small number it leaves the nearest integer in the last bits,
    where a conversion would be undefined for NaN."""
    magic_bits: int


FORMATS = {
    "float": Format(23, 127, 12582912.0, 0x4B400000),
    "double": Format(52, 1023, 6755399441055744.0, 0x4338000000000000),
}

LOG2_E = 1.4426950408889634
LOG2_10 = 3.321928094887362
LN2 = {
    "float": (0.6931471824645996, -1.9046542121259336e-09),
    "double": (0.6931471805599453, 2.3190468138462996e-17),
}
"""The constant, and what is missing from it."""
LOG10_2 = {
    "float": (0.3010300099849701, -1.432098883924482e-08),
    "double": (0.3010299956639812, -2.8037281277851704e-18),
}

EXP = {
    "float": (
        0.5,
        0.1666666716337204,
        0.04166645556688309,
        0.00833331048488617,
        0.0013934532180428505,
        0.00019891970441676676,
    ),
    "double": (
        0.5,
        0.1666666666666667,
        0.04166666666666667,
        0.008333333333325551,
        0.0013888888888883332,
        0.00019841269876840357,
        2.480158732699005e-05,
        2.755725286336732e-06,
        2.755727183153613e-07,
        2.5106262550879078e-08,
        2.0915433598076003e-09,
    ),
}
"""(exp(r) - 1 - r) / r^2 for \\|r\\| <= 0.35; relative error 3.1e-9 and 3.4e-18."""

EXP2 = {
    "float": (
        0.6931471824645996,
        0.24022650718688965,
        0.05550410971045494,
        0.009618056938052177,
        0.0013333501992747188,
        0.00015461444854736328,
        1.529732435301412e-05,
    ),
    "double": (
        0.6931471805599453,
        0.24022650695910072,
        0.05550410866482158,
        0.009618129107628484,
        0.0013333558146428445,
        0.00015403530393362755,
        1.5252733804051129e-05,
        1.3215486815999978e-06,
        1.0178086021185474e-07,
        7.054894386348348e-09,
        4.4455303091051067e-10,
        2.5733568308756892e-11,
        1.3716962392737587e-12,
    ),
}
"""(2^r - 1) / r for \\|r\\| <= 0.5; relative error 2.7e-10 and 3.4e-21."""

EXP10 = {
    "float": (
        2.3025851249694824,
        2.650949001312256,
        2.0346786975860596,
        1.1712462902069092,
        0.539380669593811,
        0.20777499675750732,
        0.0682886466383934,
    ),
    "double": (
        2.302585092994046,
        2.650949055239199,
        2.034678592293476,
        1.1712551489122678,
        0.5393829291955815,
        0.20699584869661358,
        0.068089365074398,
        0.01959769466495094,
        0.005013928839680145,
        0.0011544969522887531,
        0.0002416662916960504,
        4.6471190173739565e-05,
        8.228711183906567e-06,
    ),
}
"""(10^r - 1) / r for \\|r\\| <= 0.1506; relative error 2.7e-10 and 3.4e-21."""

SINH = (
    0.16666666666666666,
    0.008333333333333333,
    0.00019841269841269773,
    2.755731922404034e-06,
    2.505210836405804e-08,
    1.6059048396350562e-10,
    7.646625361656657e-13,
    2.8445264169895285e-15,
)
"""(sinh(x) - x) / x^3 in x^2, for \\|x\\| <= 1; relative error 1.5e-21."""

TANH = (
    -0.3333333432674408,
    0.1333329677581787,
    -0.05395759642124176,
    0.021755700930953026,
    -0.008301695808768272,
    0.0022460035979747772,
)
"""(tanh(x) - x) / x^3 in x^2, for \\|x\\| <= 0.64; relative error 6.3e-9."""


def nearest_whole(x: Number, factor: float) -> tuple[Number, Number]:
    """``x * factor`` to the nearest whole number: as a float, and as an integer of its width."""
    form = FORMATS[x.type.scalar]
    shifted = x.fma(factor, form.magic)
    return shifted - form.magic, shifted.bits() - form.magic_bits


def power_of_two(exponent: Number, scalar: str) -> Number:
    """2^exponent for a whole exponent of the normal range."""
    form = FORMATS[scalar]
    return ((exponent + form.bias) << form.mantissa).as_float(scalar)


def scale(x: Number, exponent: Number) -> Number:
    """``x`` x 2^exponent in two steps, so that neither overflows before the result does and a
    subnormal result is rounded once."""
    half = exponent >> 1
    scalar = x.type.scalar
    return x * power_of_two(half, scalar) * power_of_two(exponent - half, scalar)


def clamp(x: Number, low: float, high: float) -> Number:
    """NaN stays."""
    x = (x < low).choose(low, x)
    return (x > high).choose(high, x)


def _reduce_exp(x: Number) -> tuple[Number, Number]:
    whole, integer = nearest_whole(x, LOG2_E)
    high, low = LN2[x.type.scalar]
    return whole.fma(-low, whole.fma(-high, x)), integer


def exp(x: Number) -> Number:
    scalar = x.type.scalar
    x = clamp(x, *{"float": (-104.0, 89.0), "double": (-746.0, 710.0)}[scalar])
    rest, exponent = _reduce_exp(x)
    return scale((rest * rest).fma(rest.polynomial(EXP[scalar]), rest) + 1.0, exponent)


def exp2(x: Number) -> Number:
    scalar = x.type.scalar
    x = clamp(x, *{"float": (-151.0, 128.5), "double": (-1077.0, 1024.5)}[scalar])
    whole, exponent = nearest_whole(x, 1.0)
    rest = x - whole
    return scale(rest.fma(rest.polynomial(EXP2[scalar]), 1.0), exponent)


def exp10(x: Number) -> Number:
    scalar = x.type.scalar
    x = clamp(x, *{"float": (-46.0, 39.0), "double": (-324.5, 309.0)}[scalar])
    whole, exponent = nearest_whole(x, LOG2_10)
    high, low = LOG10_2[scalar]
    rest = whole.fma(-low, whole.fma(-high, x))
    return scale(rest.fma(rest.polynomial(EXP10[scalar]), 1.0), exponent)


def expm1(x: Number) -> Number:
    scalar = x.type.scalar
    clamped = clamp(x, *{"float": (-30.0, 89.0), "double": (-50.0, 710.0)}[scalar])
    rest, exponent = _reduce_exp(clamped)
    small = (rest * rest).fma(rest.polynomial(EXP[scalar]), rest)
    # Half of 2^exponent, because 2^128 (2^1024) itself is no number of the format.
    half = power_of_two(exponent - 1, scalar)
    result = small.fma(half, half - 0.5)
    return x.equals(0.0).choose(x, result + result)


def _exp_pair(x: Number) -> tuple[Number, Number]:
    """exp(|x|) / 2 and exp(-|x|) / 2 for doubles; half, so that sinh overflows when it should."""
    rest, exponent = _reduce_exp(clamp(abs(x), 0.0, 711.0))
    grown = (rest * rest).fma(rest.polynomial(EXP["double"]), rest) + 1.0
    half = scale(grown, exponent - 1)
    return half, 0.25 / half


def sinh(x: Number) -> Number:
    wide = _widen(x)
    up, down = _exp_pair(wide)
    square = wide * wide
    small = (square * wide).fma(square.polynomial(SINH), wide)
    return _narrow((abs(wide) < 1.0).choose(small, (up - down).copysign(wide)), x)


def cosh(x: Number) -> Number:
    up, down = _exp_pair(_widen(x))
    return _narrow(up + down, x)


def tanh(x: Number) -> Number:
    size = abs(x)
    if x.type.scalar == "float":
        square = x * x
        small = (square * x).fma(square.polynomial(TANH), x)
        large = 1.0 - 2.0 / (exp(size + size) + 1.0)
        return (size < 0.625).choose(small, large).copysign(x)
    shrunk = expm1(size * -2.0)
    return (-shrunk / (shrunk + 2.0)).copysign(x)


def _widen(x: Number) -> Number:
    return x if x.type.scalar == "double" else x.cast("fpext", "double")


def _narrow(result: Number, like: Number) -> Number:
    return result if like.type.scalar == "double" else result.cast("fptrunc", "float")
