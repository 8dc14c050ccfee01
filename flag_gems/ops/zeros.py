# SPDX-License-Identifier: Apache-2.0
"""New tensors of one value: zeros, ones and full, of a size or like another tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from flag_gems.ops.fill import value_limit
from flag_gems.runtime import device as library_device
from flag_gems.runtime import dtypes, ledger, native
from flag_gems.runtime.pointwise import Number, apply
from flag_gems.runtime.pointwise.launch import identity


def _filled(
    key: str,
    out: torch.Tensor | None,
    value: Number,
    arguments: tuple[Any, ...],
    named: dict[str, Any],
) -> torch.Tensor:
    """``out`` full of ``value``, or what torch makes of the arguments where a kernel can't."""
    reason = None
    if out is None or out.device.type != library_device.name:
        reason = "devices"
    elif out.layout is not torch.strided:
        reason = f"layout {out.layout}"
    elif isinstance(value, complex):
        reason = "complex number"
    elif not dtypes.is_real(out.dtype):
        whole = out.dtype.is_complex and value == 0
        reason = None if whole else f"dtype {out.dtype}"
    else:
        reason = value_limit(out.dtype, value)
    if out is None or reason is not None:
        return native.call(key, str(reason), *arguments, **named)
    ledger.record(key, "gems")
    plain = torch.view_as_real(out) if out.is_complex() else out
    whole = not plain.dtype.is_floating_point and plain.dtype is not torch.bool
    apply(identity, [int(value) if whole else value], plain, plain.dtype)
    return out


def _sized(
    key: str,
    size: int | Sequence[int],
    value: Number,
    before: tuple[Any, ...],
    dtype: torch.dtype | None,
    layout: torch.layout | None,
    device: torch.device | None,
    pin_memory: bool | None,
) -> torch.Tensor:
    shape = [size] if isinstance(size, int) else list(size)
    named = {"dtype": dtype, "layout": layout, "device": device, "pin_memory": pin_memory}
    plain = layout in (None, torch.strided) and all(n >= 0 for n in shape)
    out = None
    if plain and torch.device(device or torch.get_default_device()).type == library_device.name:
        out = torch.empty(shape, dtype=dtype, device=device, pin_memory=bool(pin_memory))
    return _filled(key, out, value, (shape, *before), named)


def zeros(
    size: int | Sequence[int],
    *,
    dtype: torch.dtype | None = None,
    layout: torch.layout | None = None,
    device: torch.device | None = None,
    pin_memory: bool | None = None,
) -> torch.Tensor:
    """A tensor of 0 of the given size; arguments as for ``torch.zeros``.

    Raises:
        RuntimeError: whatever torch raises for a size or dtype that it refuses.
    """
    return _sized("zeros", size, 0, (), dtype, layout, device, pin_memory)


def ones(
    size: int | Sequence[int],
    *,
    dtype: torch.dtype | None = None,
    layout: torch.layout | None = None,
    device: torch.device | None = None,
    pin_memory: bool | None = None,
) -> torch.Tensor:
    """A tensor of 1 of the given size; see :func:`zeros`."""
    return _sized("ones", size, 1, (), dtype, layout, device, pin_memory)


def full(
    size: int | Sequence[int],
    fill_value: Number,
    *,
    dtype: torch.dtype | None = None,
    layout: torch.layout | None = None,
    device: torch.device | None = None,
    pin_memory: bool | None = None,
) -> torch.Tensor:
    """A tensor of ``fill_value``, whose kind gives the dtype where none is asked for."""
    kept = dtype
    if dtype is None and isinstance(fill_value, bool):
        kept = torch.bool
    elif dtype is None and isinstance(fill_value, int):
        kept = torch.int64
    return _sized("full", size, fill_value, (fill_value,), kept, layout, device, pin_memory)


def _like(
    key: str,
    input: torch.Tensor,
    value: Number,
    before: tuple[Any, ...],
    named: dict[str, Any],
) -> torch.Tensor:
    out = None
    if input.device.type == library_device.name and input.layout is torch.strided:
        kept = {name: given for name, given in named.items() if given is not None}
        out = torch.empty_like(input, **kept)
    return _filled(key, out, value, (input, *before), named)


def zeros_like(
    input: torch.Tensor,
    *,
    dtype: torch.dtype | None = None,
    layout: torch.layout | None = None,
    device: torch.device | None = None,
    pin_memory: bool | None = None,
    memory_format: torch.memory_format | None = None,
) -> torch.Tensor:
    """A tensor of 0 of the size, dtype and memory order of ``input`` where no other is asked for.

    Raises:
        RuntimeError: whatever torch raises for arguments that do not fit together.
    """
    named = {
        "dtype": dtype, "layout": layout, "device": device, "pin_memory": pin_memory,
        "memory_format": memory_format,
    }  # fmt: skip
    return _like("zeros_like", input, 0, (), named)


def ones_like(
    input: torch.Tensor,
    *,
    dtype: torch.dtype | None = None,
    layout: torch.layout | None = None,
    device: torch.device | None = None,
    pin_memory: bool | None = None,
    memory_format: torch.memory_format | None = None,
) -> torch.Tensor:
    """A tensor of 1 like ``input``; see :func:`zeros_like`."""
    named = {
        "dtype": dtype, "layout": layout, "device": device, "pin_memory": pin_memory,
        "memory_format": memory_format,
    }  # fmt: skip
    return _like("ones_like", input, 1, (), named)


def full_like(
    input: torch.Tensor,
    fill_value: Number,
    *,
    dtype: torch.dtype | None = None,
    layout: torch.layout | None = None,
    device: torch.device | None = None,
    pin_memory: bool | None = None,
    memory_format: torch.memory_format | None = None,
) -> torch.Tensor:
    """A tensor of ``fill_value`` like ``input``; see :func:`zeros_like`."""
    named = {
        "dtype": dtype, "layout": layout, "device": device, "pin_memory": pin_memory,
        "memory_format": memory_format,
    }  # fmt: skip
    return _like("full_like", input, fill_value, (fill_value,), named)
