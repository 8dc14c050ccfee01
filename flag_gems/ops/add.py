# SPDX-License-Identifier: Apache-2.0
"""Addition with broadcasting, type promotion and a factor for the second operand."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from flag_gems.ops import arithmetic, pointwise
from flag_gems.runtime import ledger, native


@triton.jit
def _add(x: tl.tensor, y: tl.tensor, scale: tl.tensor) -> tl.tensor:
    return x + y * scale


def _limit(
    input: pointwise.Operand, other: pointwise.Operand, alpha: pointwise.Scalar
) -> str | None:
    reason = arithmetic.limit(input, other)
    if reason is None and isinstance(alpha, complex):
        return "complex scalar"
    if reason is None and not arithmetic.accepts_alpha(torch.result_type(input, other), alpha):
        return "alpha of another kind"
    return reason


def add(
    input: pointwise.Operand, other: pointwise.Operand, *, alpha: pointwise.Scalar = 1
) -> torch.Tensor:
    """``input + alpha * other``; forward only.

    Args:
        input: a tensor or a number.
        other: a tensor or a number that broadcasts with ``input``; one of the two is a tensor.
        alpha: factor of ``other``.

    Returns:
        The broadcast shape in torch's promoted dtype. Complex operands go to torch.

    Raises:
        RuntimeError: whatever torch raises for operands that do not fit together.
    """
    reason = _limit(input, other, alpha)
    if reason is not None:
        return native.call("add.Tensor", reason, input, other, alpha=alpha)
    ledger.record("add.Tensor", "gems")
    dtype = torch.result_type(input, other)
    if not isinstance(input, torch.Tensor):
        assert isinstance(other, torch.Tensor)
        input = torch.full((), input, dtype=dtype, device=other.device)
    x, y = arithmetic.placed(input, other)
    return pointwise.binary(_add, x, y, dtype, scale=alpha)


def add_(
    input: torch.Tensor, other: pointwise.Operand, *, alpha: pointwise.Scalar = 1
) -> torch.Tensor:
    """:func:`add` in place; returns ``input``.

    Raises:
        RuntimeError: whatever torch raises where the result does not fit into ``input``.
    """
    reason = _limit(input, other, alpha) or arithmetic.in_place_limit(input, other)
    if reason is not None:
        return native.call("add_.Tensor", reason, input, other, alpha=alpha)
    ledger.record("add_.Tensor", "gems")
    x, y = arithmetic.placed(input, other)
    return pointwise.binary(_add, x, y, torch.result_type(input, other), out=x, scale=alpha)
