# SPDX-License-Identifier: Apache-2.0
"""Elementary functions and casts as LLVM IR, for vectors of any length.

``FUNCTIONS`` maps the names of MLIR's operations (math.exp) and of Triton's libdevice symbols
(__nv_expf) to callables ``(emitter, arguments) -> result``. Arguments are scalars or vectors of
float or double (integers where the function's are); the result has as many lanes. Bounds of error
are in tests/unit/triton_cpu/math/bounds.py.
"""

from __future__ import annotations

from collections.abc import Callable

from triton_cpu.llvm.emit import Emitter, Value
from triton_cpu.math import (
    error_function,
    exponential,
    integers,
    logarithm,
    nvidia_names,
    power,
    rounding,
    trigonometry,
)
from triton_cpu.math.casts import from_fp8, to_fp8
from triton_cpu.math.number import Number

Function = Callable[[Emitter, list[Value]], Value]


def _over_values(formula: Callable[..., Number]) -> Function:
    def function(emitter: Emitter, arguments: list[Value]) -> Value:
        return formula(*(Number(emitter, argument) for argument in arguments)).value

    return function


MATH_OPERATIONS: dict[str, Callable[..., Number]] = {
    "math.absf": abs,
    "math.absi": integers.absolute,
    "math.acos": trigonometry.acos,
    "math.acosh": logarithm.acosh,
    "math.asin": trigonometry.asin,
    "math.asinh": logarithm.asinh,
    "math.atan": trigonometry.atan,
    "math.atan2": trigonometry.atan2,
    "math.atanh": logarithm.atanh,
    "math.cbrt": power.cbrt,
    "math.ceil": rounding.ceil,
    "math.copysign": lambda x, sign: x.copysign(sign),
    "math.cos": trigonometry.cos,
    "math.cosh": exponential.cosh,
    "math.ctlz": lambda x: integers.clz(x).resize(x.type.scalar),
    "math.ctpop": lambda x: integers.popc(x).resize(x.type.scalar),
    "math.erf": error_function.erf,
    "math.erfc": error_function.erfc,
    "math.exp": exponential.exp,
    "math.exp2": exponential.exp2,
    "math.expm1": exponential.expm1,
    "math.floor": rounding.floor,
    "math.fma": lambda a, b, c: a.fma(b, c),
    "math.fpowi": power.power_int,
    "math.log": logarithm.log,
    "math.log10": logarithm.log10,
    "math.log1p": logarithm.log1p,
    "math.log2": logarithm.log2,
    "math.powf": power.power,
    "math.round": rounding.round_away,
    "math.roundeven": rounding.rint,
    "math.rsqrt": power.rsqrt,
    "math.sin": trigonometry.sin,
    "math.sinh": exponential.sinh,
    "math.sqrt": power.sqrt,
    "math.tan": trigonometry.tan,
    "math.tanh": exponential.tanh,
    "math.trunc": rounding.trunc,
    "arith.remf": rounding.fmod,
    "tt.precise_sqrt": power.sqrt,
    "tt.precise_divf": lambda a, b: a / b,
    "tt.mulhiui": lambda a, b: integers.multiply_high(a, b, False),
}

FUNCTIONS: dict[str, Function] = {
    name: _over_values(formula)
    for name, formula in (MATH_OPERATIONS | nvidia_names.formulas()).items()
}
# Triton has no type of its own for fp8e4b15 (it is i8 in IR): libdevice.py calls these by name.
FUNCTIONS["triton_cpu_fp8e4b15_to_half"] = lambda e, v: from_fp8(e, v[0], "fp8e4b15", "half")
FUNCTIONS["triton_cpu_to_fp8e4b15"] = lambda e, v: to_fp8(e, v[0], "fp8e4b15")
FUNCTIONS["triton_cpu_to_fp8e4b15_rtz"] = lambda e, v: to_fp8(e, v[0], "fp8e4b15", "rtz")
