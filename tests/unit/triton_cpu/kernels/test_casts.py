# SPDX-License-Identifier: Apache-2.0
"""Casts between dtypes, each rounded once, as torch rounds them."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl

from tests.unit.triton_cpu.kernels.tensors import FLOATS, INTEGERS, values

FLOAT8 = (torch.float8_e4m3fn, torch.float8_e5m2)


@triton.jit
def cast_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + index, mask=index < n)
    tl.store(out_ptr + index, x.to(out_ptr.dtype.element_ty), mask=index < n)


def cast(x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    out = torch.empty(x.shape, dtype=dtype)
    cast_kernel[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), 256)
    return out


def same(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Equal values, NaN equal to NaN, zeros of the same sign."""
    a, b = a.double(), b.double()
    return bool((((a == b) & (a.signbit() == b.signbit())) | (a.isnan() & b.isnan())).all())


@pytest.mark.parametrize("to", FLOATS, ids=str)
@pytest.mark.parametrize("source", FLOATS, ids=str)
def test_float_to_float(source: torch.dtype, to: torch.dtype) -> None:
    special = torch.tensor([0.0, -0.0, torch.inf, -torch.inf, torch.nan, 1e-40, 65520.0, 1e38])
    x = torch.cat([special.double(), values(torch.float64, 500, 1) * 100]).to(source)
    assert same(cast(x, to), x.to(to))


def test_double_to_half_rounds_once() -> None:
    # Just above the middle of two halves: by way of float32 it would round down, to even.
    x = torch.tensor([1 + 2.0**-11 + 2.0**-40, -1 - 2.0**-11 - 2.0**-40], dtype=torch.float64)
    assert cast(x, torch.float16).tolist() == [1 + 2.0**-10, -1 - 2.0**-10]
    x = torch.tensor([1 + 2.0**-8 + 2.0**-40], dtype=torch.float64)
    assert cast(x, torch.bfloat16).tolist() == [1 + 2.0**-7]


@pytest.mark.parametrize("to", INTEGERS, ids=str)
@pytest.mark.parametrize("source", [*INTEGERS, torch.bool], ids=str)
def test_integer_to_integer(source: torch.dtype, to: torch.dtype) -> None:
    x = values(source, 300, 1)
    assert torch.equal(cast(x, to), x.to(to))


@pytest.mark.parametrize("to", FLOATS, ids=str)
@pytest.mark.parametrize("source", INTEGERS, ids=str)
def test_integer_to_float(source: torch.dtype, to: torch.dtype) -> None:
    x = values(source, 300, 1)
    if to in (torch.float16, torch.bfloat16):
        # Two roundings would be allowed where torch goes through float32; keep what all hold.
        x = x % 200
    assert same(cast(x, to), x.to(to))


@pytest.mark.parametrize("to", INTEGERS, ids=str)
@pytest.mark.parametrize("source", FLOATS, ids=str)
def test_float_to_integer_truncates(source: torch.dtype, to: torch.dtype) -> None:
    x = (values(torch.float64, 300, 1) * 40).to(source)
    x = x.abs() if to == torch.uint8 else x.clamp(-127, 127)
    assert torch.equal(cast(x, to), x.to(to))


@pytest.mark.parametrize("to", [torch.float16, torch.bfloat16, torch.float32], ids=str)
@pytest.mark.parametrize("source", FLOAT8, ids=str)
def test_every_float8_value(source: torch.dtype, to: torch.dtype) -> None:
    x = torch.arange(256, dtype=torch.uint8).view(source)
    assert same(cast(x, to), x.to(to))


@pytest.mark.parametrize("to", FLOAT8, ids=str)
@pytest.mark.parametrize("source", [torch.float16, torch.bfloat16, torch.float32], ids=str)
def test_to_float8_within_its_range(source: torch.dtype, to: torch.dtype) -> None:
    # Beyond the largest finite value Triton saturates and torch does not.
    x = (values(torch.float64, 2000, 1) * 100).clamp(-440, 440).to(source)
    assert same(cast(x, to).float(), x.to(to).float())


@triton.jit
def truncating_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    index = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + index)
    half = x.to(out_ptr.dtype.element_ty, fp_downcast_rounding="rtz")
    tl.store(out_ptr + index, half)


@pytest.mark.parametrize("to", [torch.float16, torch.bfloat16], ids=str)
def test_rounding_toward_zero(to: torch.dtype) -> None:
    x = values(torch.float32, 256, 1)
    out = torch.empty(256, dtype=to)
    truncating_kernel[(1,)](x, out, 256)
    nearest = x.to(to)
    too_far = nearest.float().abs() > x.abs()
    toward_zero = torch.where(too_far, nearest.view(torch.int16) - 1, nearest.view(torch.int16))
    assert torch.equal(out.view(torch.int16), toward_zero.to(torch.int16))


@triton.jit
def bitcast_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    index = tl.arange(0, BLOCK)
    tl.store(out_ptr + index, tl.load(x_ptr + index).to(tl.int32, bitcast=True))


def test_bitcast() -> None:
    x = values(torch.float32, 64, 1)
    out = torch.empty(64, dtype=torch.int32)
    bitcast_kernel[(1,)](x, out, 64)
    assert torch.equal(out, x.view(torch.int32))
