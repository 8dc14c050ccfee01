# SPDX-License-Identifier: Apache-2.0
"""Element-wise functions of one tensor: each a device function and how its dtypes promote.

All come as ``name(input)``, ``name_(input)`` in place and ``name_out(input, out=)``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

from flag_gems.runtime import native
from flag_gems.runtime.pointwise import Number, Pointwise, to_floating


@triton.jit
def _absolute(x: tl.tensor) -> tl.tensor:
    return x if x.dtype.is_int_unsigned() else tl.abs(x)


@triton.jit
def _negative(x: tl.tensor) -> tl.tensor:
    # Triton's minus is 0 - x, which turns 0.0 into 0.0; the negative of 0.0 is -0.0.
    return x * -1.0 if x.dtype.is_floating() else 0 - x


@triton.jit
def _exponential(x: tl.tensor) -> tl.tensor:
    return libdevice.exp(x)


@triton.jit
def _logarithm(x: tl.tensor) -> tl.tensor:
    return libdevice.log(x)


@triton.jit
def _square_root(x: tl.tensor) -> tl.tensor:
    return tl.sqrt_rn(x) if x.dtype == tl.float32 else tl.sqrt(x)


@triton.jit
def _inverse_square_root(x: tl.tensor) -> tl.tensor:
    return libdevice.rsqrt(x)


@triton.jit
def _inverse(x: tl.tensor) -> tl.tensor:
    return tl.div_rn(1.0, x) if x.dtype == tl.float32 else 1.0 / x


@triton.jit
def _sine(x: tl.tensor) -> tl.tensor:
    return libdevice.sin(x)


@triton.jit
def _cosine(x: tl.tensor) -> tl.tensor:
    return libdevice.cos(x)


@triton.jit
def _hyperbolic_tangent(x: tl.tensor) -> tl.tensor:
    return libdevice.tanh(x)


@triton.jit
def _logistic(x: tl.tensor) -> tl.tensor:
    return 1.0 / (1.0 + libdevice.exp(0.0 - x))


@triton.jit
def _swish(x: tl.tensor) -> tl.tensor:
    return x / (1.0 + libdevice.exp(0.0 - x))


@triton.jit
def _rectified(x: tl.tensor) -> tl.tensor:
    # In this order a NaN passes, because it is not below 0.
    return tl.where(x < 0, 0, x).to(x.dtype)


@triton.jit
def _negated_bits(x: tl.tensor) -> tl.tensor:
    return ~x


@triton.jit
def _gelu(x: tl.tensor) -> tl.tensor:
    return x * 0.5 * (1.0 + libdevice.erf(x * 0.7071067811865476))


@triton.jit
def _gelu_tanh(x: tl.tensor) -> tl.tensor:
    inner = 0.7978845608028654 * (x + 0.044715 * x * x * x)
    return x * 0.5 * (1.0 + libdevice.tanh(inner))


def _not_bool(dtype: torch.dtype, numbers: tuple[Number, ...]) -> str | None:
    del numbers
    return "dtype torch.bool" if dtype is torch.bool else None


def _floating_only(dtype: torch.dtype, numbers: tuple[Number, ...]) -> str | None:
    del numbers
    return None if dtype.is_floating_point else f"dtype {dtype}"


def _whole_only(dtype: torch.dtype, numbers: tuple[Number, ...]) -> str | None:
    del numbers
    return f"dtype {dtype}" if dtype.is_floating_point or dtype is torch.bool else None


Function = Callable[..., torch.Tensor]


def _family(name: str, operator: Pointwise, what: str) -> tuple[Function, Function, Function]:
    def new(input: torch.Tensor) -> torch.Tensor:
        return operator(name, input)

    def in_place(input: torch.Tensor) -> torch.Tensor:
        return operator(f"{name}_", input, in_place=True)

    def into(input: torch.Tensor, *, out: torch.Tensor) -> torch.Tensor:
        return operator(f"{name}.out", input, out=out)

    error = "\n\nRaises:\n    RuntimeError: whatever torch raises for the dtype"
    new.__doc__ = f"{what} of each element of a real tensor.{error}."
    in_place.__doc__ = f":func:`{name}` in place; returns ``input``.{error} or the result."
    into.__doc__ = f":func:`{name}` into ``out``, resized where its shape differs.{error} or it."
    for function, suffix in ((new, ""), (in_place, "_"), (into, "_out")):
        function.__name__ = function.__qualname__ = name + suffix
    return new, in_place, into


def _operator(function: Any, floating: bool = True, limit: Any = None) -> Pointwise:
    named = {} if limit is None else {"limit": limit}
    if floating:
        return Pointwise(function, promote=to_floating, **named)
    return Pointwise(function, **named)


abs, abs_, abs_out = _family("abs", _operator(_absolute, False, _not_bool), "``|x|``")
neg, neg_, neg_out = _family("neg", _operator(_negative, False, _not_bool), "``-x``")
exp, exp_, exp_out = _family("exp", _operator(_exponential), "``e ** x``")
log, log_, log_out = _family("log", _operator(_logarithm), "The natural logarithm")
sqrt, sqrt_, sqrt_out = _family("sqrt", _operator(_square_root), "The square root")
rsqrt, rsqrt_, rsqrt_out = _family(
    "rsqrt", _operator(_inverse_square_root), "One over the square root"
)
reciprocal, reciprocal_, reciprocal_out = _family("reciprocal", _operator(_inverse), "``1 / x``")
sin, sin_, sin_out = _family("sin", _operator(_sine), "The sine")
cos, cos_, cos_out = _family("cos", _operator(_cosine), "The cosine")
tanh, tanh_, tanh_out = _family("tanh", _operator(_hyperbolic_tangent), "The hyperbolic tangent")
sigmoid, sigmoid_, sigmoid_out = _family(
    "sigmoid", _operator(_logistic), "The logistic function ``1 / (1 + e ** -x)``"
)
silu, silu_, silu_out = _family(
    "silu", _operator(_swish, False, _floating_only), "``x / (1 + e ** -x)``"
)
bitwise_not, bitwise_not_, bitwise_not_out = _family(
    "bitwise_not", _operator(_negated_bits, False, _whole_only), "The complement of the bits"
)

_RELU = _operator(_rectified, False, _not_bool)
_GELU = {
    "none": _operator(_gelu, False, _floating_only),
    "tanh": _operator(_gelu_tanh, False, _floating_only),
}


def relu(input: torch.Tensor) -> torch.Tensor:
    """The larger of ``input`` and 0; NaN stays. bool is torch's error."""
    return _RELU("relu", input)


def relu_(input: torch.Tensor) -> torch.Tensor:
    """:func:`relu` in place; returns ``input``."""
    return _RELU("relu_", input, in_place=True)


def gelu(input: torch.Tensor, *, approximate: str = "none") -> torch.Tensor:
    """``input`` times the normal distribution's function of it (Hendrycks and Gimpel, 2016).

    ``approximate`` "tanh" computes that by a hyperbolic tangent. Floating dtypes; others are
    torch's error.
    """
    operator = _GELU.get(approximate, _GELU["none"])
    named = {"approximate": approximate}
    if approximate not in _GELU:
        return native.call("gelu", "approximate", input, **named)
    return operator("gelu", input, keywords=named)
