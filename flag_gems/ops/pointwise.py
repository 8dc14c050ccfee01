# SPDX-License-Identifier: Apache-2.0
"""The launcher of element-wise operators: broadcasting, strides and dtypes in one place.

An operator gives a small device function of one or two values; this file does the rest.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from flag_gems.runtime import device, dtypes, ledger, memory, native, torch_device_fn
from flag_gems.runtime.geometry import coalesce, is_dense
from flag_gems.runtime.tiling import TILE, next_power_of_2, warps

Scalar = bool | int | float
Operand = torch.Tensor | Scalar

_MAX_DIMS = 4


@triton.jit
def _offsets(index, n1, n2, n3, s0, s1, s2, s3, DIMS: tl.constexpr):
    if DIMS == 0:
        return index
    offset = index % n3 * s3
    if DIMS > 1:
        index = index // n3
        offset += index % n2 * s2
    if DIMS > 2:
        index = index // n2
        offset += index % n1 * s1
    if DIMS > 3:
        offset += index // n1 * s0
    return offset


@triton.jit
def unary_kernel(
    x,
    out,
    count,
    n1,
    n2,
    n3,
    x0,
    x1,
    x2,
    x3,
    out0,
    out1,
    out2,
    out3,
    FUNCTION: tl.constexpr,
    COMPUTE: tl.constexpr,
    DIMS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    index = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = index < count
    value = tl.load(x + _offsets(index, n1, n2, n3, x0, x1, x2, x3, DIMS), mask=mask).to(COMPUTE)
    place = out + _offsets(index, n1, n2, n3, out0, out1, out2, out3, DIMS)
    tl.store(place, FUNCTION(value), mask=mask)


@triton.jit(do_not_specialize=["number", "scale"])
def binary_kernel(
    x,
    y,
    number,
    scale,
    out,
    count,
    n1,
    n2,
    n3,
    x0,
    x1,
    x2,
    x3,
    y0,
    y1,
    y2,
    y3,
    out0,
    out1,
    out2,
    out3,
    FUNCTION: tl.constexpr,
    COMPUTE: tl.constexpr,
    FLOATING: tl.constexpr,
    TO_BOOL: tl.constexpr,
    Y_IS_NUMBER: tl.constexpr,
    DIMS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    index = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = index < count
    left = tl.load(x + _offsets(index, n1, n2, n3, x0, x1, x2, x3, DIMS), mask=mask).to(COMPUTE)
    if Y_IS_NUMBER:
        right = _value(number, COMPUTE, FLOATING)
    else:
        right = tl.load(y + _offsets(index, n1, n2, n3, y0, y1, y2, y3, DIMS), mask=mask)
        right = right.to(COMPUTE)
    result = FUNCTION(left, right, _value(scale, COMPUTE, FLOATING))
    if TO_BOOL:
        result = result != 0
    place = out + _offsets(index, n1, n2, n3, out0, out1, out2, out3, DIMS)
    tl.store(place, result, mask=mask)


@triton.jit
def _value(bits, COMPUTE: tl.constexpr, FLOATING: tl.constexpr):
    # Floats come as the bits of a double, because Triton would pass them as float32.
    wide = bits.to(tl.int64)
    if FLOATING:
        return wide.to(tl.float64, bitcast=True).to(COMPUTE)
    return wide.to(COMPUTE)


def _empty(shape: torch.Size, dtype: torch.dtype, tensors: list[torch.Tensor]) -> torch.Tensor:
    """A result in the memory order of the first operand that has the whole shape."""
    for tensor in tensors:
        if tensor.shape == shape and is_dense(tensor):
            return torch.empty_like(tensor, dtype=dtype)
    return torch.empty(shape, dtype=dtype, device=tensors[0].device)


def _geometry(tensors: list[torch.Tensor]) -> tuple[list[torch.Tensor], list[int], int]:
    """Tensors of one shape with sizes n1..n3 and four strides each as the kernels take them.

    The last is the result, dense in some order. Inputs are copied when more than four dimensions
    remain.
    """
    *inputs, out = tensors
    flat = [1] * (3 + 4 * len(tensors))
    steps = out.stride()
    if all(tensor.stride() == steps for tensor in inputs):
        return tensors, flat, 0
    # The loop runs in the order in which the result lies in memory.
    order = sorted(range(out.dim()), key=lambda dim: -steps[dim])
    sizes, strides = coalesce(
        [out.shape[dim] for dim in order],
        [[tensor.stride(dim) for dim in order] for tensor in tensors],
    )
    if all(own in ((), (1,)) for own in strides):
        return tensors, flat, 0
    if len(sizes) > _MAX_DIMS:
        return [*(_like(tensor, out) for tensor in inputs), out], flat, 0
    missing = _MAX_DIMS - len(sizes)
    padded = [1] * missing + list(sizes)
    numbers = [step for own in strides for step in (*([0] * missing), *own)]
    return tensors, [*padded[1:], *numbers], len(sizes)


def _like(tensor: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(out, dtype=tensor.dtype).copy_(tensor)


def _grid(count: int) -> tuple[int, int]:
    block = min(next_power_of_2(count), TILE if TILE > 4096 else 1024)
    return triton.cdiv(count, block), block


def limit(*operands: Operand) -> str | None:
    """Why these operands are not for the kernels, or None."""
    tensors = [operand for operand in operands if isinstance(operand, torch.Tensor)]
    if not tensors or tensors[0].device.type != device.name:
        return "devices"
    for operand in operands:
        if isinstance(operand, complex):
            return "complex scalar"
        if isinstance(operand, torch.Tensor):
            if not dtypes.is_real(operand.dtype):
                return f"dtype {operand.dtype}"
            reason = memory.form_limit(operand)
            if reason is not None:
                return reason
            if operand.device != tensors[0].device and operand.dim() > 0:
                return "devices"
    return None


def arithmetic_limit(x: torch.Tensor) -> str | None:
    """:func:`limit` for functions of one operand that has a sign; bool is torch's."""
    return limit(x) or ("dtype torch.bool" if x.dtype is torch.bool else None)


def in_place_limit(x: torch.Tensor) -> str | None:
    """Why the kernels can't write into ``x``, or None."""
    if x.requires_grad and torch.is_grad_enabled():
        return "gradient in place"
    return None if is_dense(x) else "gaps or overlap in place"


def unary(function: Any, x: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """``function`` of each element, into a dense ``out`` like ``x`` or a new tensor."""
    if out is None:
        out = _empty(x.shape, x.dtype, [x])
    if not out.numel():
        return out
    (x, _), numbers, dims = _geometry([x, out])
    programs, block = _grid(out.numel())
    with torch_device_fn.device(out.device):
        unary_kernel[(programs,)](
            x,
            out,
            out.numel(),
            *numbers,
            FUNCTION=function,
            COMPUTE=dtypes.compute(x.dtype),
            DIMS=dims,
            BLOCK=block,
            num_warps=warps(block),
        )
    return out


def signed(key: str, function: Any, x: torch.Tensor, in_place: bool = False) -> torch.Tensor:
    """:func:`unary` where the kernels can, else torch's own kernel of the ATen ``key``."""
    reason = arithmetic_limit(x) or (in_place_limit(x) if in_place else None)
    if reason is not None:
        return native.call(key, reason, x)
    ledger.record(key, "gems")
    return unary(function, x, out=x if in_place else None)


def binary(
    function: Any,
    x: torch.Tensor,
    y: Operand,
    dtype: torch.dtype,
    out: torch.Tensor | None = None,
    scale: Scalar = 1,
) -> torch.Tensor:
    """``function(x, y, scale)`` of each pair of elements after broadcasting.

    Args:
        x: a tensor on the library's device.
        y: a tensor that broadcasts with ``x``, or a number.
        dtype: the dtype to compute for, real; float16 and bfloat16 compute in float32.
        out: dense result of the broadcast shape; by default a new tensor of ``dtype``.
        scale: third argument of ``function``.
    """
    tensors = [x, y] if isinstance(y, torch.Tensor) else [x]
    if any(tensor.shape != x.shape for tensor in tensors):
        shape = torch.broadcast_shapes(*(tensor.shape for tensor in tensors))
        tensors = [tensor.expand(shape) for tensor in tensors]
    if out is None:
        out = _empty(tensors[0].shape, dtype, tensors)
    if not out.numel():
        return out
    every, numbers, dims = _geometry([*tensors, out])
    number = 0 if isinstance(y, torch.Tensor) else _encode(y, dtype)
    if len(tensors) == 1:
        numbers = [*numbers[:7], *([0] * 4), *numbers[7:]]
    programs, block = _grid(out.numel())
    with torch_device_fn.device(out.device):
        binary_kernel[(programs,)](
            every[0],
            every[-2],
            number,
            _encode(scale, dtype),
            out,
            out.numel(),
            *numbers,
            FUNCTION=function,
            COMPUTE=dtypes.compute(dtype),
            FLOATING=dtypes.is_floating(dtype),
            TO_BOOL=dtype is torch.bool,
            Y_IS_NUMBER=len(tensors) == 1,
            DIMS=dims,
            BLOCK=block,
            num_warps=warps(block),
        )
    return out


def _encode(value: Scalar, dtype: torch.dtype) -> int:
    """A number as the kernels take it: the bits of a double, or an integer modulo 2**64."""
    if dtypes.is_floating(dtype):
        return dtypes.float64_bits(float(value))
    if dtype is torch.bool:
        return int(bool(value))
    wrapped = int(value) & (1 << 64) - 1
    return wrapped - (1 << 64) if wrapped >> 63 else wrapped
