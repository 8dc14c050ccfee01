# SPDX-License-Identifier: Apache-2.0
"""Values as unsigned integers of their width that stand in torch's order, for radix methods.

Source: the order-preserving maps of Merrill and Grimshaw, High performance and scalable radix
sorting, 2011. As in torch -0 equals 0 and a NaN is above everything, all of them equal.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

_UNSIGNED = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def key_dtype(dtype: torch.dtype) -> torch.dtype:
    """A dtype of tensors that hold keys of values of a real ``dtype``."""
    return _UNSIGNED[dtype.itemsize]


def numbers(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor in a dtype that kernels make keys of: bool as bytes."""
    return tensor.view(torch.uint8) if tensor.dtype is torch.bool else tensor


@triton.jit
def unsigned(x):
    """The bits of numbers as an unsigned integer of their width."""
    if x.dtype.primitive_bitwidth == 8:
        bits = x.to(tl.uint8, bitcast=True)
    elif x.dtype.primitive_bitwidth == 16:
        bits = x.to(tl.uint16, bitcast=True)
    elif x.dtype.primitive_bitwidth == 32:
        bits = x.to(tl.uint32, bitcast=True)
    else:
        bits = x.to(tl.uint64, bitcast=True)
    return bits


@triton.jit
def key(x, DESCENDING: tl.constexpr):
    """Unsigned integers that stand in the order of ``x``, or in the opposite one."""
    bits = unsigned(x)
    kind = bits.dtype
    width: tl.constexpr = kind.primitive_bitwidth
    one = tl.full((), 1, kind)
    sign = one << (width - 1)
    if x.dtype.is_floating():
        all_ones = ~tl.full((), 0, kind)
        ordered = tl.where(bits >= sign, ~bits, bits | sign)
        ordered = tl.where(x == 0, sign, ordered)
        ordered = tl.where(x != x, all_ones, ordered)
    elif x.dtype.is_int_unsigned():
        ordered = bits
    else:
        ordered = bits ^ sign
    if DESCENDING:
        ordered = ~ordered
    return ordered


@triton.jit
def digit(key, shift):
    """Eight bits of a key, from bit ``shift`` on."""
    return ((key >> shift.to(key.dtype)) & 255).to(tl.int32)
