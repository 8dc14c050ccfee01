# SPDX-License-Identifier: Apache-2.0
"""Negation."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from flag_gems.ops import pointwise
from flag_gems.runtime import native


@triton.jit
def _negative(x: tl.tensor) -> tl.tensor:
    # Triton's minus is 0 - x, which turns 0.0 into 0.0; the negative of 0.0 is -0.0.
    if x.dtype.is_floating():
        return x * -1.0
    return 0 - x


def neg(input: torch.Tensor) -> torch.Tensor:
    """``-input``, any real dtype but bool, for which torch raises; forward only.

    Raises:
        RuntimeError: whatever torch raises for the dtype.
    """
    reason = pointwise.arithmetic_limit(input)
    if reason is not None:
        return native.call("neg", reason, input)
    return pointwise.unary(_negative, input)


def neg_(input: torch.Tensor) -> torch.Tensor:
    """:func:`neg` in place; returns ``input``.

    Raises:
        RuntimeError: whatever torch raises for a dtype or a tensor that can't be written.
    """
    reason = pointwise.arithmetic_limit(input) or pointwise.in_place_limit(input)
    if reason is not None:
        return native.call("neg_", reason, input)
    return pointwise.unary(_negative, input, out=input)
