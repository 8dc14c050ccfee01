# SPDX-License-Identifier: Apache-2.0
"""torch's dtypes as kernels see them: what they can load, and in what they compute."""

from __future__ import annotations

import struct

import torch
import triton.language as tl

_FLOATING = {
    torch.float16: tl.float16,
    torch.bfloat16: tl.bfloat16,
    torch.float32: tl.float32,
    torch.float64: tl.float64,
}
_INTEGRAL = {
    torch.uint8: tl.uint8,
    torch.int8: tl.int8,
    torch.int16: tl.int16,
    torch.int32: tl.int32,
    torch.int64: tl.int64,
}


def is_floating(dtype: torch.dtype) -> bool:
    """float16, bfloat16, float32 or float64."""
    return dtype in _FLOATING


def is_integral(dtype: torch.dtype) -> bool:
    """uint8 or a signed integer; not bool, and not the wider unsigned types."""
    return dtype in _INTEGRAL


def is_real(dtype: torch.dtype) -> bool:
    """Any dtype the kernels take: floating, integral or bool."""
    return is_floating(dtype) or is_integral(dtype) or dtype is torch.bool


def compute(dtype: torch.dtype) -> tl.dtype:
    """The dtype in which values of a real ``dtype`` are computed.

    Half types compute in float32 as torch does; bool in int32, which Triton's reductions take.
    """
    if dtype in (torch.float16, torch.bfloat16):
        return tl.float32
    if dtype is torch.bool:
        return tl.int32
    return _FLOATING.get(dtype) or _INTEGRAL[dtype]


def accumulate(dtype: torch.dtype) -> torch.dtype:
    """The dtype in which sums of a floating ``dtype`` are kept."""
    return torch.float64 if dtype is torch.float64 else torch.float32


def float64_bits(value: float) -> int:
    """The bits of a double as a signed integer.

    Triton passes a Python float to a kernel as float32. A kernel that computes in float64 takes the
    bits and casts them back.
    """
    return struct.unpack("<q", struct.pack("<d", value))[0]
