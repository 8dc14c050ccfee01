# SPDX-License-Identifier: Apache-2.0
"""Copies: into a tensor, to another dtype, to another memory order."""

from __future__ import annotations

import torch

from flag_gems.ops.fill import fill_
from flag_gems.runtime import device, dtypes, ledger, native
from flag_gems.runtime.geometry import is_dense
from flag_gems.runtime.pointwise import apply, empty_for, write_limit
from flag_gems.runtime.pointwise.launch import identity

BITS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def as_numbers(tensor: torch.Tensor) -> torch.Tensor:
    """The same memory in a dtype that kernels load: for copies that change no bit."""
    if dtypes.is_real(tensor.dtype):
        return tensor
    if tensor.dtype is torch.complex128:
        return torch.view_as_real(tensor)
    return tensor.view(BITS[tensor.dtype.itemsize])


def source_limit(source: torch.Tensor, dtype: torch.dtype) -> str | None:
    """Why ``source`` can't be read as ``dtype`` by a kernel, or None."""
    if source.device.type != device.name:
        return "devices"
    if source.layout is not torch.strided:
        return f"layout {source.layout}"
    if source.is_neg() or source.is_conj():
        return "negative or conjugate bit"
    if source.is_quantized:
        return "quantized"
    if source.dtype == dtype:
        return None
    if not dtypes.is_real(source.dtype) or not dtypes.is_real(dtype):
        return f"{source.dtype} to {dtype}"
    return None


def _copy_limit(out: torch.Tensor, source: torch.Tensor) -> str | None:
    reason = source_limit(source, out.dtype)
    if reason is None and (out.device != source.device or out.is_conj() or out.is_quantized):
        reason = "devices" if out.device != source.device else "out of another kind"
    if reason is None and out.shape != source.shape:
        try:
            fits = torch.broadcast_shapes(out.shape, source.shape) == out.shape
        except RuntimeError:
            fits = False
        reason = None if fits else "shapes"
    if reason is not None:
        return reason
    numbers = as_numbers(out)
    return write_limit(numbers, [as_numbers(source)], numbers.dtype, True)


def _can_use_triton(dst: torch.Tensor, src: torch.Tensor) -> bool:
    """Whether :func:`copy_` would copy by a kernel rather than leave it to torch."""
    return _copy_limit(dst, src) is None


def _move(source: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
    if out.dtype == source.dtype:
        source, target = as_numbers(source), as_numbers(out)
        apply(identity, [source], target, target.dtype)
    else:
        apply(identity, [source], out, source.dtype)
    return out


def copy_(input: torch.Tensor, src: torch.Tensor, non_blocking: bool = False) -> torch.Tensor:
    """Writes ``src``, broadcast and converted, into ``input``; returns ``input``.

    Args:
        input: any strides under which no two elements share memory.
        src: on the same device; from another one torch copies. Dtypes that kernels do not compute
            with (complex, float8, ...) are copied where both are the same.
        non_blocking: for copies between devices, which are torch's.

    Raises:
        RuntimeError: whatever torch raises for tensors that do not fit together.
    """
    if not isinstance(src, torch.Tensor):
        return fill_(input, src)
    if input is src:
        ledger.record("copy_", "gems")
        return input
    reason = _copy_limit(input, src)
    if reason is not None:
        return native.call("copy_", reason, input, src, non_blocking)
    ledger.record("copy_", "gems")
    _move(src, input)
    return input


def _empty_as(
    input: torch.Tensor, dtype: torch.dtype, memory_format: torch.memory_format
) -> torch.Tensor:
    if memory_format is torch.preserve_format and not is_dense(input):
        return empty_for(input.shape, dtype, [input])
    return torch.empty_like(input, dtype=dtype, memory_format=memory_format)


def clone(input: torch.Tensor, *, memory_format: torch.memory_format | None = None) -> torch.Tensor:
    """A copy in the memory order ``memory_format``, by default that of ``input``."""
    reason = source_limit(input, input.dtype)
    if reason is not None:
        return native.call("clone", reason, input, memory_format=memory_format)
    ledger.record("clone", "gems")
    return _move(input, _empty_as(input, input.dtype, memory_format or torch.preserve_format))


def contiguous(
    input: torch.Tensor, memory_format: torch.memory_format = torch.contiguous_format
) -> torch.Tensor:
    """``input`` itself where it lies in ``memory_format``, else a copy that does.

    Raises:
        RuntimeError: whatever torch raises for a format that the shape does not have.
    """
    reason = source_limit(input, input.dtype)
    if reason is not None:
        return native.call("contiguous", reason, input, memory_format=memory_format)
    ledger.record("contiguous", "gems")
    if input.is_contiguous(memory_format=memory_format):
        return input
    return _move(input, torch.empty_like(input, memory_format=memory_format))


def to_copy(
    input: torch.Tensor,
    *,
    dtype: torch.dtype | None = None,
    layout: torch.layout | None = None,
    device: torch.device | None = None,
    pin_memory: bool | None = None,
    non_blocking: bool = False,
    memory_format: torch.memory_format | None = None,
) -> torch.Tensor:
    """ATen's ``_to_copy``: a copy in another dtype or memory order; other devices are torch's.

    Raises:
        RuntimeError: whatever torch raises for arguments that do not fit together.
    """
    if not isinstance(input, torch.Tensor):
        # torch's dispatcher hands a number in a tensor to Python as the number.
        ledger.record("_to_copy", "native", "number")
        return torch.scalar_tensor(input, dtype=dtype, device=device)
    target = dtype or input.dtype
    reason = source_limit(input, target)
    if reason is None and device is not None and torch.device(device) != input.device:
        same = torch.device(device).type == input.device.type == "cpu"
        reason = None if same else "devices"
    if reason is None and (layout not in (None, torch.strided) or pin_memory):
        reason = "layout or pinned memory"
    if reason is not None:
        return native.call(
            "_to_copy", reason, input, dtype=dtype, layout=layout, device=device,
            pin_memory=pin_memory, non_blocking=non_blocking, memory_format=memory_format,
        )  # fmt: skip
    ledger.record("_to_copy", "gems")
    return _move(input, _empty_as(input, target, memory_format or torch.preserve_format))
