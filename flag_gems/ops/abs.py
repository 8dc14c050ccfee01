# SPDX-License-Identifier: Apache-2.0
"""Absolute value."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from flag_gems.ops import pointwise
from flag_gems.runtime import native


@triton.jit
def _absolute(x: tl.tensor) -> tl.tensor:
    return tl.abs(x)


def abs(input: torch.Tensor) -> torch.Tensor:
    """``|input|``, any real dtype but bool, which torch answers for; forward only.

    Raises:
        RuntimeError: whatever torch raises for the dtype.
    """
    reason = pointwise.arithmetic_limit(input)
    if reason is not None:
        return native.call("abs", reason, input)
    return pointwise.unary(_absolute, input)


def abs_(input: torch.Tensor) -> torch.Tensor:
    """:func:`abs` in place; returns ``input``.

    Raises:
        RuntimeError: whatever torch raises for a dtype or a tensor that can't be written.
    """
    reason = pointwise.arithmetic_limit(input) or pointwise.in_place_limit(input)
    if reason is not None:
        return native.call("abs_", reason, input)
    return pointwise.unary(_absolute, input, out=input)
