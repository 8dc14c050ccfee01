# SPDX-License-Identifier: Apache-2.0
"""Scans along any axis, both ways, with built-in and own combiners."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl
from hypothesis import strategies as st

from tests.unit.triton_cpu.kernels.examples import given
from tests.unit.triton_cpu.kernels.tensors import assert_near, values


@triton.jit
def scan_kernel(
    x_ptr,
    sum_ptr,
    product_ptr,
    M: tl.constexpr,
    N: tl.constexpr,
    AXIS: tl.constexpr,
    REVERSE: tl.constexpr,
):
    place = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + place)
    tl.store(sum_ptr + place, tl.cumsum(x, axis=AXIS, reverse=REVERSE))
    tl.store(product_ptr + place, tl.cumprod(x, axis=AXIS, reverse=REVERSE))


def along(x: torch.Tensor, axis: int, reverse: bool, scan: str) -> torch.Tensor:
    """torch's scan, from the end when reversed, without widening."""
    x = x.flip(axis) if reverse else x
    out = getattr(torch, scan)(x, axis, dtype=x.dtype)
    return out.flip(axis) if reverse else out


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64], ids=str)
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(("m", "n"), [(1, 128), (16, 8)])
def test_integer_scans(dtype: torch.dtype, axis: int, reverse: bool, m: int, n: int) -> None:
    x = values(dtype, (m, n), axis)
    total, product = torch.empty_like(x), torch.empty_like(x)
    scan_kernel[(1,)](x, total, product, m, n, axis, reverse)
    assert torch.equal(total, along(x, axis, reverse, "cumsum"))
    assert torch.equal(product, along(x, axis, reverse, "cumprod"))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@given(seed=st.integers(0, 99))
def test_float_scans(dtype: torch.dtype, seed: int) -> None:
    x = values(dtype, (4, 64), seed)
    total, product = torch.empty_like(x), torch.empty_like(x)
    scan_kernel[(1,)](x, total, product, 4, 64, 1, False)
    exact = x.double()
    assert_near(total, exact.cumsum(1), terms=64, scale=exact.abs().cumsum(1))
    assert_near(product, exact.cumprod(1), terms=64)


@triton.jit
def keep_larger(a, b):
    return tl.maximum(a, b)


@triton.jit
def running_maximum_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    index = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + index, mask=index < n, other=float("-inf"))
    tl.store(out_ptr + index, tl.associative_scan(x, 0, keep_larger), mask=index < n)


@given(n=st.integers(1, 256))
def test_running_maximum(n: int) -> None:
    x = values(torch.float32, n, n)
    out = torch.empty_like(x)
    running_maximum_kernel[(1,)](x, out, n, 256)
    assert torch.equal(out, x.cummax(0).values)


@triton.jit
def compose_affine(slope_a, offset_a, slope_b, offset_b):
    return slope_a * slope_b, slope_b * offset_a + offset_b


@triton.jit
def recurrence_kernel(slope_ptr, offset_ptr, out_ptr, BLOCK: tl.constexpr, REVERSE: tl.constexpr):
    index = tl.arange(0, BLOCK)
    slope = tl.load(slope_ptr + index)
    offset = tl.load(offset_ptr + index)
    _, state = tl.associative_scan((slope, offset), 0, compose_affine, reverse=REVERSE)
    tl.store(out_ptr + index, state)


@pytest.mark.parametrize("reverse", [False, True])
def test_linear_recurrence_carries_two_values(reverse: bool) -> None:
    slope = values(torch.int32, 64, 1) % 3
    offset = values(torch.int32, 64, 2) % 7
    out = torch.empty_like(slope)
    recurrence_kernel[(1,)](slope, offset, out, 64, reverse)
    state, expected = 0, []
    for a, b in list(zip(slope.tolist(), offset.tolist(), strict=True))[:: -1 if reverse else 1]:
        state = a * state + b
        state = (state + 2**31) % 2**32 - 2**31
        expected.append(state)
    # Composition is associative, but the first element has no state before it: it is its offset.
    assert out.tolist() == (expected[::-1] if reverse else expected)
