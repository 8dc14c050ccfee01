# SPDX-License-Identifier: Apache-2.0
"""Multiplication with broadcasting and type promotion."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from flag_gems.ops import arithmetic, pointwise
from flag_gems.runtime import ledger, native


@triton.jit
def _multiply(x: tl.tensor, y: tl.tensor, scale: tl.tensor) -> tl.tensor:
    return x * y


def mul(input: pointwise.Operand, other: pointwise.Operand) -> torch.Tensor:
    """``input * other``; forward only.

    Args:
        input: a tensor or a number.
        other: a tensor or a number that broadcasts with ``input``; one of the two is a tensor.

    Returns:
        The broadcast shape in torch's promoted dtype. Complex operands go to torch.

    Raises:
        RuntimeError: whatever torch raises for operands that do not fit together.
    """
    reason = arithmetic.limit(input, other)
    if reason is not None:
        return native.call("mul.Tensor", reason, input, other)
    ledger.record("mul.Tensor", "gems")
    if not isinstance(input, torch.Tensor):
        input, other = other, input
    assert isinstance(input, torch.Tensor)
    x, y = arithmetic.placed(input, other)
    return pointwise.binary(_multiply, x, y, torch.result_type(input, other))


def mul_(input: torch.Tensor, other: pointwise.Operand) -> torch.Tensor:
    """:func:`mul` in place; returns ``input``.

    Raises:
        RuntimeError: whatever torch raises where the result does not fit into ``input``.
    """
    reason = arithmetic.limit(input, other) or arithmetic.in_place_limit(input, other)
    if reason is not None:
        return native.call("mul_.Tensor", reason, input, other)
    ledger.record("mul_.Tensor", "gems")
    x, y = arithmetic.placed(input, other)
    return pointwise.binary(_multiply, x, y, torch.result_type(input, other), out=x)
