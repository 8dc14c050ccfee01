# SPDX-License-Identifier: Apache-2.0
"""Absolute value."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from flag_gems.ops import pointwise


@triton.jit
def _absolute(x: tl.tensor) -> tl.tensor:
    return tl.abs(x)


def abs(input: torch.Tensor) -> torch.Tensor:
    """``|input|``, any real dtype but bool, which torch answers for; forward only.

    Raises:
        RuntimeError: whatever torch raises for the dtype.
    """
    return pointwise.signed("abs", _absolute, input)


def abs_(input: torch.Tensor) -> torch.Tensor:
    """:func:`abs` in place; returns ``input``.

    Raises:
        RuntimeError: whatever torch raises for a dtype or a tensor that can't be written.
    """
    return pointwise.signed("abs_", _absolute, input, in_place=True)
