# SPDX-License-Identifier: Apache-2.0
"""Multiplication with broadcasting and type promotion."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from flag_gems.runtime.pointwise import Operand, Pointwise


@triton.jit
def _times(x: tl.tensor, y: tl.tensor) -> tl.tensor:
    return x * y


_MUL = Pointwise(_times)


def mul(input: Operand, other: Operand) -> torch.Tensor:
    """``input * other``.

    Args:
        input: a tensor or a number.
        other: a tensor or a number that broadcasts with ``input``; one of the two is a tensor.

    Returns:
        The broadcast shape in torch's promoted dtype. Complex operands go to torch.

    Raises:
        RuntimeError: whatever torch raises for operands that do not fit together.
    """
    return _MUL("mul.Tensor", input, other)


def mul_(input: torch.Tensor, other: Operand) -> torch.Tensor:
    """:func:`mul` in place; returns ``input``.

    Raises:
        RuntimeError: whatever torch raises where the result does not fit into ``input``.
    """
    return _MUL("mul_.Tensor", input, other, in_place=True)


def mul_out(input: Operand, other: Operand, *, out: torch.Tensor) -> torch.Tensor:
    """:func:`mul` into ``out``, resized where its shape differs.

    Raises:
        RuntimeError: whatever torch raises where the result does not fit into ``out``.
    """
    return _MUL("mul.out", input, other, out=out)
