# SPDX-License-Identifier: Apache-2.0
"""Comparisons, and the larger and the smaller of two."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import triton
import triton.language as tl

from flag_gems.runtime.pointwise import Operand, Pointwise, to_boolean


@triton.jit
def _equal(x: tl.tensor, y: tl.tensor) -> tl.tensor:
    return x == y


@triton.jit
def _different(x: tl.tensor, y: tl.tensor) -> tl.tensor:
    return x != y


@triton.jit
def _less(x: tl.tensor, y: tl.tensor) -> tl.tensor:
    return x < y


@triton.jit
def _at_most(x: tl.tensor, y: tl.tensor) -> tl.tensor:
    return x <= y


@triton.jit
def _greater(x: tl.tensor, y: tl.tensor) -> tl.tensor:
    return x > y


@triton.jit
def _at_least(x: tl.tensor, y: tl.tensor) -> tl.tensor:
    return x >= y


@triton.jit
def _larger(x: tl.tensor, y: tl.tensor) -> tl.tensor:
    # Of a NaN and a number the NaN.
    return tl.where((x > y) | (x != x), x, y)


@triton.jit
def _smaller(x: tl.tensor, y: tl.tensor) -> tl.tensor:
    return tl.where((x < y) | (x != x), x, y)


Function = Callable[..., torch.Tensor]


def _comparison(name: str, function: Any, sign: str) -> tuple[Function, ...]:
    operator = Pointwise(function, result=to_boolean)

    def tensor(input: torch.Tensor, other: Operand) -> torch.Tensor:
        kind = "Tensor" if isinstance(other, torch.Tensor) else "Scalar"
        return operator(f"{name}.{kind}", input, other)

    def scalar(input: torch.Tensor, other: Operand) -> torch.Tensor:
        return operator(f"{name}.Scalar", input, other)

    tensor.__doc__ = (
        f"``input {sign} other`` in bool; real operands that broadcast, a tensor and a tensor or a"
        " number.\n\nRaises:\n    RuntimeError: whatever torch raises for operands that do not fit."
    )
    scalar.__doc__ = f"ATen's ``{name}.Scalar``; see :func:`{name}`."
    tensor.__name__ = tensor.__qualname__ = name
    scalar.__name__ = scalar.__qualname__ = f"{name}_scalar"
    return tensor, scalar


eq, eq_scalar = _comparison("eq", _equal, "==")
ne, ne_scalar = _comparison("ne", _different, "!=")
lt, lt_scalar = _comparison("lt", _less, "<")
le, le_scalar = _comparison("le", _at_most, "<=")
gt, gt_scalar = _comparison("gt", _greater, ">")
ge, ge_scalar = _comparison("ge", _at_least, ">=")

_MAXIMUM = Pointwise(_larger)
_MINIMUM = Pointwise(_smaller)


def maximum(input: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """The larger of each pair of elements after broadcasting; NaN where either is.

    Raises:
        RuntimeError: whatever torch raises for operands that do not fit together.
    """
    return _MAXIMUM("maximum", input, other)


def minimum(input: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """The smaller of each pair of elements after broadcasting; NaN where either is.

    Raises:
        RuntimeError: whatever torch raises for operands that do not fit together.
    """
    return _MINIMUM("minimum", input, other)
