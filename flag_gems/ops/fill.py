# SPDX-License-Identifier: Apache-2.0
"""One value in every element."""

from __future__ import annotations

import torch

from flag_gems.runtime import device, ledger, native
from flag_gems.runtime.pointwise import Number, apply, write_limit
from flag_gems.runtime.pointwise.launch import identity


def value_limit(dtype: torch.dtype, value: Number | torch.Tensor) -> str | None:
    """Why ``value`` can't go into ``dtype``; torch then raises or knows better."""
    if isinstance(value, torch.Tensor):
        if value.dim():
            return "value with dimensions"
        if value.is_complex() or value.is_neg() or value.layout is not torch.strided:
            return f"value of {value.dtype}"
        return None
    if not isinstance(value, bool | int | float):
        return f"value {type(value).__name__}"
    if dtype.is_floating_point or dtype is torch.bool:
        return None
    # Below 0 an unsigned type wraps, as in torch.
    most = torch.iinfo(dtype).max
    least = torch.iinfo(dtype).min or -most
    return None if least <= value <= most else "value beyond the dtype"


def _write(key: str, out: torch.Tensor, value: Number | torch.Tensor) -> torch.Tensor:
    ledger.record(key, "gems")
    if isinstance(value, torch.Tensor):
        if value.device != out.device:
            value = value.item()
        elif value.dtype != out.dtype:
            apply(identity, [value], out, value.dtype)
            return out
    elif not out.dtype.is_floating_point and out.dtype is not torch.bool:
        value = int(value)
    apply(identity, [value], out, out.dtype)
    return out


def _limit(out: torch.Tensor, value: Number | torch.Tensor) -> str | None:
    # Elements may share memory: each gets the same value.
    apart = out
    if 0 in out.stride():
        apart = out[tuple(slice(None) if step else slice(1) for step in out.stride())]
    return write_limit(apart, [value], out.dtype, True) or value_limit(out.dtype, value)


def fill_scalar_(input: torch.Tensor, value: Number) -> torch.Tensor:
    """Writes ``value`` into every element; returns ``input``.

    Args:
        input: real dtype, any strides under which no two elements share memory.
        value: a number that the dtype can hold; a fraction is cut off for integers.

    Raises:
        RuntimeError: whatever torch raises for another value or tensor.
    """
    reason = _limit(input, value)
    if reason is not None:
        return native.call("fill_.Scalar", reason, input, value)
    return _write("fill_.Scalar", input, value)


def fill_tensor_(input: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """:func:`fill_scalar_` with the value of a tensor without dimensions, not read by the host."""
    reason = _limit(input, value)
    if reason is not None:
        return native.call("fill_.Tensor", reason, input, value)
    return _write("fill_.Tensor", input, value)


def fill_(input: torch.Tensor, value: Number | torch.Tensor) -> torch.Tensor:
    """:func:`fill_scalar_` or :func:`fill_tensor_`, as the value is."""
    if isinstance(value, torch.Tensor):
        return fill_tensor_(input, value)
    return fill_scalar_(input, value)


def _new(key: str, input: torch.Tensor, value: Number | torch.Tensor) -> torch.Tensor:
    reason = None if input.device.type == device.name else "devices"
    out = input
    if reason is None and input.layout is torch.strided:
        out = torch.empty_like(input)
    reason = reason or _limit(out, value)
    if reason is not None:
        return native.call(key, reason, input, value)
    return _write(key, out, value)


def fill_scalar(input: torch.Tensor, value: Number) -> torch.Tensor:
    """A tensor like ``input`` with ``value`` in every element; see :func:`fill_scalar_`."""
    return _new("fill.Scalar", input, value)


def fill_tensor(input: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """A tensor like ``input`` with the value of a tensor in every element."""
    return _new("fill.Tensor", input, value)


def fill(input: torch.Tensor, value: Number | torch.Tensor) -> torch.Tensor:
    """:func:`fill_scalar` or :func:`fill_tensor`, as the value is."""
    if isinstance(value, torch.Tensor):
        return fill_tensor(input, value)
    return fill_scalar(input, value)


def zero_(input: torch.Tensor) -> torch.Tensor:
    """Writes 0 into every element; returns ``input``. Complex tensors are two real ones."""
    plain = torch.view_as_real(input) if input.is_complex() and not input.is_conj() else input
    reason = _limit(plain, 0)
    if reason is not None:
        return native.call("zero_", reason, input)
    _write("zero_", plain, 0)
    return input
