# SPDX-License-Identifier: Apache-2.0
"""What add and mul ask of their operands before a kernel may run."""

from __future__ import annotations

import torch

from flag_gems.ops import pointwise
from flag_gems.ops.pointwise import Operand, Scalar
from flag_gems.runtime import dtypes


def _broadcast(*operands: Operand) -> torch.Size | None:
    first, *others = (operand.shape for operand in operands if isinstance(operand, torch.Tensor))
    if all(shape == first for shape in others):
        return first
    try:
        return torch.broadcast_shapes(first, *others)
    except RuntimeError:
        return None


def _first_on_device(input: Operand, other: Operand) -> tuple[Operand, Operand]:
    """The operands with one on the library's device in front."""
    if isinstance(input, torch.Tensor) and pointwise.limit(input) != "devices":
        return input, other
    return other, input


def limit(input: Operand, other: Operand) -> str | None:
    """Why the operands go to torch, or None."""
    reason = pointwise.limit(*_first_on_device(input, other))
    if reason is None and _broadcast(input, other) is None:
        return "shapes"
    return reason


def in_place_limit(input: torch.Tensor, other: Operand) -> str | None:
    """Why ``input`` can't take the result in place, or None."""
    if _broadcast(input, other) != input.shape:
        return "shapes"
    if not torch.can_cast(torch.result_type(input, other), input.dtype):
        return "dtype of the result"
    if isinstance(other, torch.Tensor) and other is not input:
        shared = other.untyped_storage().data_ptr() == input.untyped_storage().data_ptr()
        if shared and input.numel() and other.numel():
            return "overlap"
    return pointwise.in_place_limit(input)


def accepts_alpha(dtype: torch.dtype, alpha: Scalar) -> bool:
    """Whether torch takes this factor for a result of ``dtype``."""
    if isinstance(alpha, bool):
        return dtype is torch.bool
    return isinstance(alpha, int) or dtypes.is_floating(dtype)


def placed(input: torch.Tensor, other: Operand) -> tuple[torch.Tensor, Operand]:
    """Both on one device; a CPU tensor without dimensions becomes a number."""
    if isinstance(other, torch.Tensor) and other.device != input.device:
        if other.dim() == 0 and other.device.type == "cpu":
            return input, other.item()
        return input.to(other.device), other
    return input, other
