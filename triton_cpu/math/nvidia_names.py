# SPDX-License-Identifier: Apache-2.0
"""The functions under the names that Triton's libdevice module calls them by.

``triton.language.extra.libdevice`` picks a symbol for the argument types; these symbols are
those of NVIDIA's library, in Triton's own wheel.
"""

from __future__ import annotations

from collections.abc import Callable

from triton_cpu.math import (
    error_function,
    exponential,
    integers,
    logarithm,
    power,
    rounding,
    special,
    trigonometry,
)
from triton_cpu.math.casts import float_to_int, int_to_float
from triton_cpu.math.number import Number

Formula = Callable[..., Number]

# Each for float under the name with an f, and for double under the name alone.
BOTH_WIDTHS: dict[str, Formula] = {
    "fabs": abs,
    "floor": rounding.floor,
    "ceil": rounding.ceil,
    "trunc": rounding.trunc,
    "rint": rounding.rint,
    "nearbyint": rounding.rint,
    "round": rounding.round_away,
    "fmod": rounding.fmod,
    "remainder": rounding.remainder,
    "nextafter": rounding.nextafter,
    "copysign": lambda x, sign: x.copysign(sign),
    "fdim": special.positive_difference,
    "fma": lambda a, b, c: a.fma(b, c),
    "sqrt": power.sqrt,
    "rsqrt": power.rsqrt,
    "cbrt": power.cbrt,
    "rcbrt": power.rcbrt,
    "pow": power.power,
    "powi": power.power_int,
    "hypot": power.norm,
    "rhypot": power.rnorm,
    "norm3d": power.norm,
    "rnorm3d": power.rnorm,
    "norm4d": power.norm,
    "rnorm4d": power.rnorm,
    "exp": exponential.exp,
    "exp2": exponential.exp2,
    "exp10": exponential.exp10,
    "expm1": exponential.expm1,
    "sinh": exponential.sinh,
    "cosh": exponential.cosh,
    "tanh": exponential.tanh,
    "log": logarithm.log,
    "log2": logarithm.log2,
    "log10": logarithm.log10,
    "log1p": logarithm.log1p,
    "asinh": logarithm.asinh,
    "acosh": logarithm.acosh,
    "atanh": logarithm.atanh,
    "sin": trigonometry.sin,
    "cos": trigonometry.cos,
    "tan": trigonometry.tan,
    "sinpi": trigonometry.sinpi,
    "cospi": trigonometry.cospi,
    "asin": trigonometry.asin,
    "acos": trigonometry.acos,
    "atan": trigonometry.atan,
    "atan2": trigonometry.atan2,
    "erf": error_function.erf,
    "erfc": error_function.erfc,
    "erfcx": error_function.erfcx,
    "erfinv": error_function.erfinv,
    "erfcinv": error_function.erfcinv,
    "normcdf": error_function.normcdf,
    "normcdfinv": error_function.normcdfinv,
    "lgamma": special.from_library("lgamma"),
    "tgamma": special.from_library("tgamma"),
    "j0": special.from_library("j0"),
    "j1": special.from_library("j1"),
    "jn": special.from_library("jn"),
    "y0": special.from_library("y0"),
    "y1": special.from_library("y1"),
    "yn": special.from_library("yn"),
    "cyl_bessel_i0": special.modified_bessel(0),
    "cyl_bessel_i1": special.modified_bessel(1),
    "ldexp": special.load_exponent,
    "scalbn": special.load_exponent,
    "logb": special.exponent_of,
    "ilogb": special.integer_exponent_of,
    "llrint": lambda x: _to_int(rounding.rint(x), "i64"),
    "llround": lambda x: _to_int(rounding.round_away(x), "i64"),
}

# NVIDIA's quick and rough variants; here they are as good as the others.
FAST: dict[str, Formula] = {
    "fast_sinf": trigonometry.sin,
    "fast_cosf": trigonometry.cos,
    "fast_tanf": trigonometry.tan,
    "fast_expf": exponential.exp,
    "fast_exp10f": exponential.exp10,
    "fast_logf": logarithm.log,
    "fast_log2f": logarithm.log2,
    "fast_log10f": logarithm.log10,
    "fast_powf": power.power,
    "fast_tanhf": exponential.tanh,
    "fast_fdividef": lambda a, b: a / b,
}

MODES = ("rn", "rz", "rd", "ru")

# Names of one symbol for each rounding mode; {} stands for the mode.
DIRECTED: dict[str, Callable[..., Number]] = {
    "fadd_{}": rounding.add,
    "dadd_{}": rounding.add,
    "fsub_{}": rounding.subtract,
    "dsub_{}": rounding.subtract,
    "fmul_{}": rounding.multiply,
    "dmul_{}": rounding.multiply,
    "fdiv_{}": rounding.divide,
    "ddiv_{}": rounding.divide,
    "frcp_{}": rounding.reciprocal,
    "drcp_{}": rounding.reciprocal,
    "fsqrt_{}": rounding.square_root,
    "dsqrt_{}": rounding.square_root,
    "fmaf_{}": rounding.multiply_add,
    "fma_{}": rounding.multiply_add,
    "double2float_{}": rounding.narrow,
}

INTEGER_NAMES = {"int": ("i32", True), "uint": ("i32", False), "ll": ("i64", True)}
INTEGER_NAMES["ull"] = ("i64", False)
FLOAT_NAMES = {"float": "float", "double": "double"}

OTHERS: dict[str, Formula] = {
    "saturatef": special.saturate,
    "frsqrt_rn": power.rsqrt,
    "rcp64h": special.high_word_of_reciprocal,
    "isnanf": lambda x: _truth(x.is_nan()),
    "isnand": lambda x: _truth(x.is_nan()),
    "isinff": lambda x: _truth(abs(x).equals(float("inf"))),
    "isinfd": lambda x: _truth(abs(x).equals(float("inf"))),
    "finitef": lambda x: _truth(abs(x) < float("inf")),
    "isfinited": lambda x: _truth(abs(x) < float("inf")),
    "signbitf": lambda x: _truth(x.bits() < 0),
    "signbitd": lambda x: _truth(x.bits() < 0),
    "int_as_float": lambda x: x.as_float("float"),
    "uint_as_float": lambda x: x.as_float("float"),
    "float_as_int": lambda x: x.bits(),
    "float_as_uint": lambda x: x.bits(),
    "longlong_as_double": lambda x: x.as_float("double"),
    "double_as_longlong": lambda x: x.bits(),
    "double2loint": lambda x: x.bits().resize("i32"),
    "double2hiint": lambda x: x.bits().shift_right(32).resize("i32"),
    "hiloint2double": lambda high, low: (
        (high.resize("i64", False) << 32) | low.resize("i64", False)
    ).as_float("double"),
    "clz": integers.clz,
    "clzll": integers.clz,
    "popc": integers.popc,
    "popcll": integers.popc,
    "ffs": integers.ffs,
    "ffsll": integers.ffs,
    "brev": integers.brev,
    "brevll": integers.brev,
    "abs": integers.absolute,
    "llabs": integers.absolute,
    "byte_perm": integers.byte_permute,
    "mulhi": lambda a, b: integers.multiply_high(a, b, True),
    "umulhi": lambda a, b: integers.multiply_high(a, b, False),
    "mul64hi": lambda a, b: integers.multiply_high(a, b, True),
    "umul64hi": lambda a, b: integers.multiply_high(a, b, False),
    "mul24": lambda a, b: integers.multiply_24(a, b, True),
    "umul24": lambda a, b: integers.multiply_24(a, b, False),
    "sad": lambda a, b, c: integers.sum_of_difference(a, b, c, True),
    "usad": lambda a, b, c: integers.sum_of_difference(a, b, c, False),
    "hadd": lambda a, b: integers.half_sum(a, b, True, False),
    "uhadd": lambda a, b: integers.half_sum(a, b, False, False),
    "rhadd": lambda a, b: integers.half_sum(a, b, True, True),
    "urhadd": lambda a, b: integers.half_sum(a, b, False, True),
}


def _truth(condition: Number) -> Number:
    return condition.resize("i32", signed=False)


def _to_int(x: Number, to: str, signed: bool = True) -> Number:
    return Number(x.emitter, float_to_int(x.emitter, x.value, to, signed=signed))


def _float_to_integer(to: str, signed: bool, mode: str) -> Formula:
    return lambda x: _to_int(rounding.to_whole(x, mode), to, signed)


def _integer_to_float(to: str, signed: bool, mode: str) -> Formula:
    def function(n: Number) -> Number:
        if n.type.bits == 32 and to == "float":
            wide = Number(n.emitter, int_to_float(n.emitter, n.value, "double", signed=signed))
            return rounding.narrow(wide, mode)
        nearest = Number(n.emitter, int_to_float(n.emitter, n.value, to, signed=signed))
        if mode == "rn" or n.type.bits == 32:
            return nearest
        # The integer's halves are exact in double, and so is what their sum loses.
        high = (n >> 32 if signed else n.shift_right(32)).cast("sitofp", "double") * 2.0**32
        low = (n & 0xFFFFFFFF).cast("sitofp", "double")
        rest = nearest.cast("fpext", "double") if to == "float" else nearest
        lost = ((high - rest) + low).cast("fptrunc", "float") if to == "float" else None
        return rounding.directed(nearest, lost or ((high - rest) + low), mode)

    return function


def _directed(formula: Callable[..., Number], mode: str) -> Formula:
    return lambda *arguments: formula(*arguments, mode)


def formulas() -> dict[str, Formula]:
    """Symbol -> formula."""
    table: dict[str, Formula] = {}
    for name, formula in BOTH_WIDTHS.items():
        table["__nv_" + name] = formula
        table[f"__nv_{name}f"] = formula
    for name, formula in (FAST | OTHERS).items():
        table["__nv_" + name] = formula
    for mode in MODES:
        for pattern, formula in DIRECTED.items():
            table["__nv_" + pattern.format(mode)] = _directed(formula, mode)
        for integer, (kind, signed) in INTEGER_NAMES.items():
            for name in FLOAT_NAMES:
                table[f"__nv_{name}2{integer}_{mode}"] = _float_to_integer(kind, signed, mode)
                table[f"__nv_{integer}2{name}_{mode}"] = _integer_to_float(name, signed, mode)
    return table
