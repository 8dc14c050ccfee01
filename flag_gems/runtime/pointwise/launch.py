# SPDX-License-Identifier: Apache-2.0
"""Launches an element-wise device function on operands that are known to fit."""

from __future__ import annotations

import itertools
import math
import struct
from collections.abc import Sequence
from typing import Any

import torch
import triton
import triton.language as tl

from flag_gems.runtime import device, dtypes
from flag_gems.runtime.pointwise.kernels import flat_kernel, indexed_kernel, tiled_kernel
from flag_gems.runtime.pointwise.layout import Walk, result_strides, walk
from flag_gems.runtime.pointwise.operands import Number, Operand
from flag_gems.runtime.tiling import next_power_of_2

_ON_CPU = device.name == "cpu"

_FLAT = 4096 if _ON_CPU else 1024
_FLAT_WARPS = 4
"""On a GPU 8 elements a thread: one load of 16 bytes of a half type, two of float32."""

_TILE = 4096
_TILE_WARPS = 8
_SQUARE = 64
"""Side of a tile whose operands run in different directions: 64 elements of two bytes are the 128
bytes that a warp reads at once."""

_SMALL_TILE = 256
"""Elements below which a tile is too little work for a program, where there are many of them."""

_LARGEST_SINGLE = struct.unpack("<f", b"\xff\xff\x7f\x7f")[0]


def encode(value: Number, dtype: torch.dtype) -> int | float:
    """A number as the kernels take it, for a computation in ``dtype``."""
    if dtype is torch.float64:
        return dtypes.float64_bits(float(value))
    if dtypes.is_floating(dtype):
        single = float(value)
        if math.isfinite(single) and abs(single) > _LARGEST_SINGLE:
            # Beyond float32, or within its rounding of the largest one.
            return math.copysign(math.inf, single)
        return single
    if dtype is torch.bool:
        return int(bool(value))
    wrapped = int(value) & (1 << 64) - 1
    return wrapped - (1 << 64) if wrapped >> 63 else wrapped


def empty_for(
    shape: torch.Size, dtype: torch.dtype, tensors: Sequence[torch.Tensor]
) -> torch.Tensor:
    """A new result of ``shape`` for these operands, in the memory order that torch chooses.

    Args:
        tensors: expanded to ``shape``; at least one, the first on the result's device.
    """
    first = tensors[0]
    if first.is_contiguous() and (len(tensors) == 1 or tensors[1].is_contiguous()):
        return torch.empty(shape, dtype=dtype, device=first.device)
    return torch.empty_strided(
        shape, result_strides(shape, tensors), dtype=dtype, device=first.device
    )


def apply(
    function: Any,
    operands: Sequence[Operand],
    out: torch.Tensor,
    compute: torch.dtype,
) -> None:
    """Writes ``function(*operands)`` of each element into ``out``.

    Args:
        function: a jitted function of as many values as there are operands, one to four.
        operands: tensors that broadcast to the shape of ``out``, on its device, and numbers.
        out: any strides; no two elements share memory.
        compute: the dtype for which values are computed; half types compute in float32.
    """
    if not out.numel():
        return
    pointers: list[torch.Tensor | None] = [None] * 4
    numbers: list[int | float | None] = [None] * 4
    flat, ones = out.is_contiguous(), 0
    shape = out.shape
    for slot, operand in enumerate(operands):
        if isinstance(operand, torch.Tensor):
            pointers[slot] = operand
            if operand.numel() == 1:
                ones |= 1 << slot
            elif flat and (operand.shape != shape or not operand.is_contiguous()):
                flat = False
        else:
            numbers[slot] = encode(operand, compute)
    options = {
        "FUNCTION": function,
        "COMPUTE": dtypes.compute(compute),
        "SLOTS": len(operands),
    }
    given = (*pointers, *numbers, out)
    if flat:
        _flat(given, out.numel(), ones, options)
        return
    tensors = [None if ones >> slot & 1 else pointers[slot] for slot in range(4)]
    strides = [(0,) * out.dim() if t is None else t.expand(shape).stride() for t in tensors]
    found = walk(shape, [*strides, out.stride()])
    if found is None:
        single = sum(1 << s for s in range(4) if tensors[s] is None or not any(strides[s]))
        _flat(given, out.numel(), single, options)
    elif found.beyond:
        _each(given, found, options)
    else:
        _strided(given, found, options)


def _flat(given: tuple[Any, ...], count: int, ones: int, options: dict[str, Any]) -> None:
    flat_kernel[(triton.cdiv(count, _FLAT),)](
        *given, count, **options, ONES=ones, ALIGNED=count % 16 == 0, BLOCK=_FLAT,
        num_warps=_FLAT_WARPS,
    )  # fmt: skip


def _strided(given: tuple[Any, ...], found: Walk, options: dict[str, Any]) -> None:
    n0, n1, n2, n3 = found.sizes
    steps = itertools.chain.from_iterable(found.strides)
    crossing = any(own[2] == 1 and n2 > 1 and own[3] != 1 for own in found.strides)
    wide = next_power_of_2(n3)
    high = next_power_of_2(n2)
    block_3 = min(wide, _SQUARE if crossing else 1024)
    block_2 = min(high, max(_TILE // block_3, 1))
    if block_2 * block_3 < _SMALL_TILE and n0 * n1 > 64:
        count = n0 * n1 * n2 * n3
        indexed_kernel[(triton.cdiv(count, _FLAT),)](
            *given, count, n1, n2, n3, *steps, **options, BLOCK=_FLAT, num_warps=_FLAT_WARPS
        )
        return
    reach = max((n2 - 1) * abs(own[2]) + (n3 - 1) * abs(own[3]) for own in found.strides)
    programs = n0 * n1 * triton.cdiv(n2, block_2) * triton.cdiv(n3, block_3)
    tiled_kernel[(programs,)](
        *given, n1, n2, n3, *steps, **options, WIDE=reach >= 1 << 31,
        BLOCK_2=block_2, BLOCK_3=block_3, num_warps=_TILE_WARPS,
    )  # fmt: skip


def _each(given: tuple[Any, ...], found: Walk, options: dict[str, Any]) -> None:
    """One launch for each place in the dimensions that the kernels don't walk."""
    inner = Walk(found.sizes, found.strides)
    *rest, out = given
    for place in itertools.product(*map(range, found.beyond)):
        shifts = [
            sum(i * step for i, step in zip(place, own, strict=True))
            for own in found.beyond_strides
        ]
        pointers = [
            None if tensor is None else _shifted(tensor, shift)
            for tensor, shift in zip(rest[:4], shifts[:4], strict=True)
        ]
        _strided((*pointers, *rest[4:], _shifted(out, shifts[4])), inner, options)


def _shifted(tensor: torch.Tensor, elements: int) -> torch.Tensor:
    return tensor.as_strided((1,), (1,), tensor.storage_offset() + elements)


@triton.jit
def identity(x: tl.tensor) -> tl.tensor:
    """The function of fill and copy."""
    return x
