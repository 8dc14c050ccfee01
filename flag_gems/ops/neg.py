# SPDX-License-Identifier: Apache-2.0
"""Negation."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from flag_gems.ops import pointwise


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
    return pointwise.signed("neg", _negative, input)


def neg_(input: torch.Tensor) -> torch.Tensor:
    """:func:`neg` in place; returns ``input``.

    Raises:
        RuntimeError: whatever torch raises for a dtype or a tensor that can't be written.
    """
    return pointwise.signed("neg_", _negative, input, in_place=True)
