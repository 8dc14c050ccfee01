# SPDX-License-Identifier: Apache-2.0
"""Tensors one behind the other along a dimension."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import torch

from flag_gems.ops.copy import as_numbers, source_limit
from flag_gems.runtime import ledger, native
from flag_gems.runtime.geometry import wrap_dim
from flag_gems.runtime.memory import resize_out
from flag_gems.runtime.pointwise import apply, write_limit
from flag_gems.runtime.pointwise.launch import identity


def _counted(tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """The tensors without those of shape [0], which fit everywhere; one where there is no other."""
    counted = [tensor for tensor in tensors if tensor.dim() != 1 or tensor.shape[0]]
    return counted or list(tensors[:1])


def _limit(tensors: Sequence[torch.Tensor], dim: int, dtype: torch.dtype) -> str | None:
    for tensor in tensors:
        reason = source_limit(tensor, dtype)
        if reason is None and tensor.device != tensors[0].device:
            reason = "devices"
        if reason is not None:
            return reason
    counted = _counted(tensors)
    first = counted[0]
    if not first.dim():
        return "no dimensions"
    place = wrap_dim(dim, first.dim())
    if place is None:
        return "dim out of range"
    for tensor in counted[1:]:
        if tensor.dim() != first.dim() or any(
            size != other
            for index, (size, other) in enumerate(zip(tensor.shape, first.shape, strict=True))
            if index != place
        ):
            return "shapes"
    return None


def _dtype(tensors: Sequence[torch.Tensor]) -> torch.dtype:
    dtypes = {tensor.dtype for tensor in tensors}
    if len(dtypes) == 1:
        return dtypes.pop()
    return functools.reduce(torch.promote_types, (tensor.dtype for tensor in tensors))


def _format(tensors: Sequence[torch.Tensor]) -> torch.memory_format:
    """The memory order that all have, as torch keeps it; the usual one where they differ."""
    for format, rank in ((torch.channels_last, 4), (torch.channels_last_3d, 5)):
        if all(
            one.dim() == rank
            and not one.is_contiguous()
            and one.is_contiguous(memory_format=format)
            for one in tensors
        ):
            return format
    return torch.contiguous_format


def _shape(tensors: Sequence[torch.Tensor], place: int) -> list[int]:
    shape = list(tensors[0].shape)
    shape[place] = sum(tensor.shape[place] for tensor in tensors)
    return shape


def _join(tensors: Sequence[torch.Tensor], place: int, out: torch.Tensor) -> None:
    begin = 0
    for tensor in tensors:
        part = out.narrow(place, begin, tensor.shape[place])
        begin += tensor.shape[place]
        if tensor.dtype == part.dtype:
            plain = as_numbers(part)
            apply(identity, [as_numbers(tensor)], plain, plain.dtype)
        else:
            apply(identity, [tensor], part, tensor.dtype)


def cat(tensors: Sequence[torch.Tensor], dim: int = 0) -> torch.Tensor:
    """The tensors one behind the other along ``dim``, in their common dtype.

    Args:
        tensors: of one shape but for ``dim``; those of shape [0] count for nothing. Dtypes that
            kernels do not compute with (complex, float8, ...) may not be mixed with others.

    Raises:
        IndexError, RuntimeError: whatever torch raises for tensors that do not fit together.
    """
    tensors = list(tensors)
    dtype = _dtype(tensors) if tensors else torch.float32
    reason = _limit(tensors, dim, dtype) if tensors else "nothing to join"
    if reason is not None:
        return native.call("cat", reason, tensors, dim)
    ledger.record("cat", "gems")
    counted = _counted(tensors)
    place = wrap_dim(dim, counted[0].dim())
    assert place is not None
    out = torch.empty(
        _shape(counted, place),
        dtype=dtype,
        device=counted[0].device,
        memory_format=_format(counted),
    )
    _join(counted, place, out)
    return out


def cat_out(tensors: Sequence[torch.Tensor], dim: int = 0, *, out: torch.Tensor) -> torch.Tensor:
    """:func:`cat` into ``out``, resized where its shape differs.

    Raises:
        IndexError, RuntimeError: whatever torch raises for tensors that do not fit together.
    """
    tensors = list(tensors)
    reason = _limit(tensors, dim, out.dtype) if tensors else "nothing to join"
    counted = _counted(tensors)
    if reason is None and out.device != counted[0].device:
        reason = "devices"
    if reason is None:
        plain = as_numbers(out)
        reason = write_limit(plain, [], plain.dtype, False)
        storage = out.untyped_storage().data_ptr()
        shared = any(one.untyped_storage().data_ptr() == storage for one in counted if one.numel())
        if reason is None and out.numel() and shared:
            reason = "operand and result overlap"
        if reason is None and not torch.can_cast(_dtype(tensors), out.dtype):
            reason = f"a result of {_dtype(tensors)} in {out.dtype}"
    if reason is not None:
        return native.call("cat.out", reason, tensors, dim, out=out)
    ledger.record("cat.out", "gems")
    place = wrap_dim(dim, counted[0].dim())
    assert place is not None
    _join(counted, place, resize_out(out, _shape(counted, place)))
    return out
