# SPDX-License-Identifier: Apache-2.0
"""Addition and subtraction with broadcasting, promotion and a factor for the second operand."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from flag_gems.runtime.pointwise import Number, Operand, Pointwise


@triton.jit
def _plus(x: tl.tensor, y: tl.tensor, alpha: tl.tensor) -> tl.tensor:
    return x + y * alpha


@triton.jit
def _minus(x: tl.tensor, y: tl.tensor, alpha: tl.tensor) -> tl.tensor:
    return x - y * alpha


@triton.jit
def _reversed_minus(x: tl.tensor, y: tl.tensor, alpha: tl.tensor) -> tl.tensor:
    return y - x * alpha


def _alpha_limit(dtype: torch.dtype, numbers: tuple[Number, ...]) -> str | None:
    (alpha,) = numbers
    if isinstance(alpha, bool):
        return None if dtype is torch.bool else "alpha is bool"
    fits = isinstance(alpha, int) or dtype.is_floating_point
    return None if fits else "alpha is not an integer"


def _difference_limit(dtype: torch.dtype, numbers: tuple[Number, ...]) -> str | None:
    return "dtype torch.bool" if dtype is torch.bool else _alpha_limit(dtype, numbers)


_ADD = Pointwise(_plus, limit=_alpha_limit)
_SUB = Pointwise(_minus, limit=_difference_limit)
_RSUB = Pointwise(_reversed_minus, limit=_difference_limit)


def add(input: Operand, other: Operand, *, alpha: Number = 1) -> torch.Tensor:
    """``input + alpha * other``.

    Args:
        input: a tensor or a number.
        other: a tensor or a number that broadcasts with ``input``; one of the two is a tensor.
        alpha: factor of ``other``.

    Returns:
        The broadcast shape in torch's promoted dtype. Complex operands go to torch.

    Raises:
        RuntimeError: whatever torch raises for operands that do not fit together.
    """
    return _ADD("add.Tensor", input, other, numbers={"alpha": alpha})


def add_(input: torch.Tensor, other: Operand, *, alpha: Number = 1) -> torch.Tensor:
    """:func:`add` in place; returns ``input``.

    Raises:
        RuntimeError: whatever torch raises where the result does not fit into ``input``.
    """
    return _ADD("add_.Tensor", input, other, in_place=True, numbers={"alpha": alpha})


def add_out(
    input: Operand, other: Operand, *, alpha: Number = 1, out: torch.Tensor
) -> torch.Tensor:
    """:func:`add` into ``out``, resized where its shape differs.

    Raises:
        RuntimeError: whatever torch raises where the result does not fit into ``out``.
    """
    return _ADD("add.out", input, other, out=out, numbers={"alpha": alpha})


def sub(input: Operand, other: Operand, *, alpha: Number = 1) -> torch.Tensor:
    """``input - alpha * other``; arguments and errors as for :func:`add`, bool is torch's error."""
    return _SUB("sub.Tensor", input, other, numbers={"alpha": alpha})


def sub_(input: torch.Tensor, other: Operand, *, alpha: Number = 1) -> torch.Tensor:
    """:func:`sub` in place; returns ``input``."""
    return _SUB("sub_.Tensor", input, other, in_place=True, numbers={"alpha": alpha})


def sub_out(
    input: Operand, other: Operand, *, alpha: Number = 1, out: torch.Tensor
) -> torch.Tensor:
    """:func:`sub` into ``out``, resized where its shape differs."""
    return _SUB("sub.out", input, other, out=out, numbers={"alpha": alpha})


def rsub(input: torch.Tensor, other: Operand, alpha: Number = 1) -> torch.Tensor:
    """``other - alpha * input``; arguments and errors as for :func:`sub`."""
    return _RSUB("rsub.Tensor", input, other, numbers={"alpha": alpha})
