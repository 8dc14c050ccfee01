# SPDX-License-Identifier: Apache-2.0
"""Division in torch's four roundings: true, floor, trunc, and the remainder of floor.

Floor and remainder of floating numbers go by the remainder of the truncated quotient, which is
exact, as Python's ``//`` and ``%`` do: rounding the quotient itself would miss by one where it is
close to a whole number.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

from flag_gems.runtime import device, native
from flag_gems.runtime.pointwise import Number, Operand, Pointwise, to_floating


@triton.jit
def _quotient(x: tl.tensor, y: tl.tensor) -> tl.tensor:
    return tl.div_rn(x, y) if x.dtype == tl.float32 else x / y


@triton.jit
def _whole_quotient(x: tl.tensor, y: tl.tensor) -> tl.tensor:
    # The processor traps on x / 0 and on the smallest integer / -1. The latter wraps, as 0 - x.
    if x.dtype.is_int_signed():
        safe = tl.where((y == 0) | (y == -1), 1, y).to(x.dtype)
        whole = tl.where(y == -1, 0 - x, x // safe)
    else:
        whole = x // tl.where(y == 0, 1, y).to(x.dtype)
    return whole.to(x.dtype)


@triton.jit
def _trunc(x: tl.tensor, y: tl.tensor) -> tl.tensor:
    return libdevice.trunc(_quotient(x, y)) if x.dtype.is_floating() else _whole_quotient(x, y)


@triton.jit
def _floor_of_floating(x: tl.tensor, y: tl.tensor) -> tl.tensor:
    rest = libdevice.fmod(x, y)
    across = (rest != 0) & ((rest < 0) != (y < 0))
    whole = _quotient(x - rest, y)
    whole = tl.where(across, whole - 1, whole)
    # The quotient is whole but for its own rounding.
    low = libdevice.floor(whole)
    low = tl.where(whole - low > 0.5, low + 1, low)
    low = tl.where(whole == 0, libdevice.copysign(whole * 0, _quotient(x, y)), low)
    return tl.where(y == 0, _quotient(x, y), low)


@triton.jit
def _floor(x: tl.tensor, y: tl.tensor) -> tl.tensor:
    if x.dtype.is_floating():
        whole = _floor_of_floating(x, y)
    else:
        whole = _whole_quotient(x, y)
        rest = x - whole * y
        whole = tl.where((rest != 0) & ((rest < 0) != (y < 0)), whole - 1, whole).to(x.dtype)
    return whole


@triton.jit
def _remainder(x: tl.tensor, y: tl.tensor) -> tl.tensor:
    if x.dtype.is_floating():
        rest = libdevice.fmod(x, y)
    else:
        rest = (x - _whole_quotient(x, y) * y).to(x.dtype)
    return tl.where((rest != 0) & ((rest < 0) != (y < 0)), rest + y, rest).to(x.dtype)


def _kind(other: Operand) -> str:
    """The overload for ``other``: unlike other divisions this one takes no number for a tensor."""
    return "Tensor" if isinstance(other, torch.Tensor) else "Scalar"


def _zero_divisor(dtype: torch.dtype, other: Operand) -> bool:
    """Whether torch would raise for a zero among integer divisors, as it does on the CPU.

    There the look at them costs no synchronisation; on a GPU torch does not look either.
    """
    if dtype.is_floating_point or device.name != "cpu":
        return False
    if isinstance(other, torch.Tensor):
        return not other.is_complex() and other.numel() > 0 and bool((other == 0).any())
    return other == 0


_TRUE = Pointwise(_quotient, promote=to_floating)
_FLOOR = Pointwise(_floor)
_TRUNC = Pointwise(_trunc)
_REMAINDER = Pointwise(_remainder)
_MODES = {None: _TRUE, "floor": _FLOOR, "trunc": _TRUNC}


def _whole(
    operator: Pointwise,
    key: str,
    input: Operand,
    other: Operand,
    out: torch.Tensor | None = None,
    in_place: bool = False,
    mode: str | None = None,
) -> torch.Tensor:
    """A division of whole results; bool and zero among integer divisors are torch's errors."""
    named = {"rounding_mode": mode} if mode else {}
    dtype = torch.result_type(input, other)
    reason = None
    if dtype is torch.bool:
        reason = "dtype torch.bool"
    elif _zero_divisor(dtype, other):
        reason = "integer division by zero"
    if reason is not None:
        outs = {} if out is None else {"out": out}
        return native.call(key, reason, input, other, **named, **outs)
    return operator(key, input, other, out=out, in_place=in_place, keywords=named)


def _in_mode(
    key: str,
    input: Operand,
    other: Operand,
    mode: str | None,
    out: torch.Tensor | None = None,
    in_place: bool = False,
) -> torch.Tensor:
    if mode is None:
        named = {"rounding_mode": None}
        return _TRUE(key, input, other, out=out, in_place=in_place, keywords=named)
    if mode not in _MODES:
        outs = {} if out is None else {"out": out}
        return native.call(key, "rounding mode", input, other, rounding_mode=mode, **outs)
    return _whole(_MODES[mode], key, input, other, out, in_place, mode)


def div(input: Operand, other: Operand, *, rounding_mode: str | None = None) -> torch.Tensor:
    """``input / other``, rounded to a whole number where asked for.

    Args:
        input: a tensor or a number.
        other: a tensor or a number that broadcasts with ``input``; one of the two is a tensor.
        rounding_mode: None (true division: integers give the default dtype), ``"floor"`` or
            ``"trunc"`` (integers stay integers).

    Returns:
        The broadcast shape. Complex operands go to torch.

    Raises:
        RuntimeError: whatever torch raises; on the CPU also for a zero among integer divisors
            with a rounding mode.
    """
    if rounding_mode is None:
        return _TRUE("div.Tensor", input, other)
    return _in_mode("div.Tensor_mode", input, other, rounding_mode)


def div_(input: torch.Tensor, other: Operand, *, rounding_mode: str | None = None) -> torch.Tensor:
    """:func:`div` in place; returns ``input``."""
    if rounding_mode is None:
        return _TRUE("div_.Tensor", input, other, in_place=True)
    return _in_mode("div_.Tensor_mode", input, other, rounding_mode, in_place=True)


def div_out(input: Operand, other: Operand, *, out: torch.Tensor) -> torch.Tensor:
    """True division into ``out``, resized where its shape differs."""
    return _TRUE("div.out", input, other, out=out)


def div_mode(input: Operand, other: Operand, *, rounding_mode: str | None) -> torch.Tensor:
    """ATen's ``div.Tensor_mode``; see :func:`div`."""
    return _in_mode("div.Tensor_mode", input, other, rounding_mode)


def div_mode_(input: torch.Tensor, other: Operand, *, rounding_mode: str | None) -> torch.Tensor:
    """:func:`div_mode` in place; returns ``input``."""
    return _in_mode("div_.Tensor_mode", input, other, rounding_mode, in_place=True)


def div_mode_out(
    input: Operand, other: Operand, *, rounding_mode: str | None, out: torch.Tensor
) -> torch.Tensor:
    """:func:`div_mode` into ``out``, resized where its shape differs."""
    return _in_mode("div.out_mode", input, other, rounding_mode, out=out)


def true_divide(input: Operand, other: Operand) -> torch.Tensor:
    """:func:`div` without rounding."""
    return div(input, other)


def true_divide_(input: torch.Tensor, other: Operand) -> torch.Tensor:
    """:func:`div_` without rounding."""
    return div_(input, other)


def trunc_divide(input: Operand, other: Operand) -> torch.Tensor:
    """:func:`div` rounded towards zero."""
    return div_mode(input, other, rounding_mode="trunc")


def floor_divide(input: Operand, other: Operand) -> torch.Tensor:
    """``input // other`` as Python rounds it; arguments and errors as for :func:`div`."""
    return _whole(_FLOOR, "floor_divide", input, other)


def floor_divide_(input: torch.Tensor, other: Operand) -> torch.Tensor:
    """:func:`floor_divide` in place; returns ``input``."""
    return _whole(_FLOOR, "floor_divide_.Tensor", input, other, in_place=True)


def floor_divide_out(input: Operand, other: Operand, *, out: torch.Tensor) -> torch.Tensor:
    """:func:`floor_divide` into ``out``, resized where its shape differs."""
    return _whole(_FLOOR, "floor_divide.out", input, other, out)


def remainder(input: Operand, other: Operand) -> torch.Tensor:
    """``input % other`` as Python has it: with the sign of ``other``. See :func:`div`."""
    if not isinstance(input, torch.Tensor):
        return _whole(_REMAINDER, "remainder.Scalar_Tensor", input, other)
    return _whole(_REMAINDER, f"remainder.{_kind(other)}", input, other)


def remainder_(input: torch.Tensor, other: Operand) -> torch.Tensor:
    """:func:`remainder` in place; returns ``input``."""
    return _whole(_REMAINDER, f"remainder_.{_kind(other)}", input, other, in_place=True)


def remainder_scalar_tensor(input: Number, other: torch.Tensor) -> torch.Tensor:
    """ATen's ``remainder.Scalar_Tensor``; see :func:`remainder`."""
    return _whole(_REMAINDER, "remainder.Scalar_Tensor", input, other)


def remainder_out(input: Operand, other: Operand, *, out: torch.Tensor) -> torch.Tensor:
    """:func:`remainder` into ``out``, resized where its shape differs."""
    return _whole(_REMAINDER, "remainder.Tensor_out", input, other, out)
