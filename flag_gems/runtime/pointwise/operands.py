# SPDX-License-Identifier: Apache-2.0
"""What element-wise operators ask of operands and results before a kernel may run."""

from __future__ import annotations

from collections.abc import Iterable

import torch

from flag_gems.runtime import device, dtypes, memory
from flag_gems.runtime.geometry import is_dense

Number = bool | int | float
Operand = torch.Tensor | Number


def limit(*operands: Operand) -> str | None:
    """Why these operands are not for the kernels, or None.

    They are where one lies on the library's device, the others with it or on the CPU without
    dimensions, and all are real numbers in memory that strides describe.
    """
    place = None
    for operand in operands:
        if isinstance(operand, torch.Tensor):
            if operand.device.type == device.name:
                if place is None:
                    place = operand.device
                elif operand.device != place:
                    return "devices"
            elif operand.dim() or operand.device.type != "cpu":
                return "devices"
            if operand.dtype not in _REAL:
                return f"dtype {operand.dtype}"
            if operand.layout is not torch.strided or operand.is_neg():
                return memory.form_limit(operand)
        elif isinstance(operand, complex):
            return "complex number"
        elif not isinstance(operand, bool | int | float):
            return f"operand {type(operand).__name__}"
    return None if place is not None else "devices"


_REAL = frozenset(dtype for dtype in vars(torch).values() if isinstance(dtype, torch.dtype))
_REAL = frozenset(dtype for dtype in _REAL if dtypes.is_real(dtype))


def broadcast(tensors: list[torch.Tensor]) -> torch.Size | None:
    """The shape to which all broadcast, or None."""
    shape = tensors[0].shape
    if all(tensor.shape == shape for tensor in tensors[1:]):
        return shape
    try:
        return torch.broadcast_shapes(*(tensor.shape for tensor in tensors))
    except RuntimeError:
        return None


def write_limit(
    out: torch.Tensor, inputs: Iterable[Operand], dtype: torch.dtype, in_place: bool
) -> str | None:
    """Why a result of ``dtype`` can't be written into ``out``, or None.

    torch takes a result whose elements share no memory, and an input that is the result itself or
    does not touch it.
    """
    if out.device.type != device.name or out.layout is not torch.strided or out.is_neg():
        return "out of another kind"
    if out.dtype not in _REAL or not torch.can_cast(dtype, out.dtype):
        return f"a result of {dtype} in {out.dtype}"
    if out.requires_grad and torch.is_grad_enabled():
        return "gradient in place" if in_place else "gradient in out"
    if any(step == 0 and size > 1 for size, step in zip(out.shape, out.stride(), strict=True)):
        return "elements of the result share memory"
    for tensor in inputs:
        if isinstance(tensor, torch.Tensor) and tensor is not out and _touch(out, tensor):
            return "operand and result overlap"
    return None


def _touch(out: torch.Tensor, tensor: torch.Tensor) -> bool:
    """Whether ``tensor`` shares memory with ``out`` without being the same elements in order."""
    if not out.numel() or not tensor.numel() or tensor.device != out.device:
        return False
    if out.untyped_storage().data_ptr() != tensor.untyped_storage().data_ptr():
        return False
    if not is_dense(out) or not is_dense(tensor):
        # torch does not look any further: what such views share is the caller's affair.
        return False
    start, other = out.data_ptr(), tensor.data_ptr()
    if start == other and out.nbytes == tensor.nbytes:
        return out.stride() != tensor.stride()
    return start < other + tensor.nbytes and other < start + out.nbytes
