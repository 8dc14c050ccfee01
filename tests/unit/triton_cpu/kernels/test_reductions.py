# SPDX-License-Identifier: Apache-2.0
"""Reductions along any axis, with built-in and with own combiners, ties and NaN."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl
from hypothesis import strategies as st

from tests.unit.triton_cpu.kernels.examples import given
from tests.unit.triton_cpu.kernels.tensors import FLOATS, assert_near, values


@triton.jit
def row_kernel(x_ptr, out_ptr, at_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    rows = tl.num_programs(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n
    x = tl.load(x_ptr + row * n + cols, mask=mask, other=0)
    low = tl.load(x_ptr + row * n + cols, mask=mask, other=float("inf"))
    high = tl.load(x_ptr + row * n + cols, mask=mask, other=float("-inf"))
    tl.store(out_ptr + row, tl.sum(x, axis=0))
    tl.store(out_ptr + rows + row, tl.min(low, axis=0))
    tl.store(out_ptr + 2 * rows + row, tl.max(high, axis=0))
    tl.store(at_ptr + row, tl.argmin(low, axis=0))
    tl.store(at_ptr + rows + row, tl.argmax(high, axis=0))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@given(n=st.integers(1, 256), rows=st.integers(1, 4), seed=st.integers(0, 99))
def test_rows_of_floats(dtype: torch.dtype, n: int, rows: int, seed: int) -> None:
    x = values(dtype, (rows, n), seed)
    out, at = torch.empty(3, rows, dtype=dtype), torch.empty(2, rows, dtype=torch.int32)
    row_kernel[(rows,)](x, out, at, n, 256)
    exact = x.double()
    # Triton adds half-precision floats in their own type unless told otherwise.
    assert_near(out[0], exact.sum(1), terms=n, scale=exact.abs().sum(1))
    assert torch.equal(out[1], x.amin(1))
    assert torch.equal(out[2], x.amax(1))
    # Of equal values the leftmost counts.
    assert at[0].tolist() == [int((r == r.min()).nonzero()[0]) for r in x]
    assert at[1].tolist() == [int((r == r.max()).nonzero()[0]) for r in x]


@triton.jit
def axis_kernel(
    x_ptr,
    sum_ptr,
    max_ptr,
    xor_ptr,
    AXIS: tl.constexpr,
    A: tl.constexpr,
    B: tl.constexpr,
    C: tl.constexpr,
    REST: tl.constexpr,
):
    a = tl.arange(0, A)[:, None, None]
    b = tl.arange(0, B)[None, :, None]
    c = tl.arange(0, C)[None, None, :]
    x = tl.load(x_ptr + (a * B + b) * C + c)
    rest = tl.arange(0, REST)
    tl.store(sum_ptr + rest, tl.sum(x, axis=AXIS).reshape(REST))
    tl.store(max_ptr + rest, tl.max(x, axis=AXIS).reshape(REST))
    tl.store(xor_ptr + rest, tl.xor_sum(x, axis=AXIS).reshape(REST))


@pytest.mark.parametrize("dtype", [torch.int8, torch.int32, torch.int64, torch.uint8], ids=str)
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_each_axis_of_three(dtype: torch.dtype, axis: int) -> None:
    shape = (4, 8, 16)
    x = values(dtype, shape, axis)
    rest = x.numel() // shape[axis]
    wide = torch.int64 if dtype == torch.int64 else torch.int32
    total = torch.empty(rest, dtype=wide)
    largest, parity = torch.empty(rest, dtype=dtype), torch.empty(rest, dtype=dtype)
    axis_kernel[(1,)](x, total, largest, parity, axis, *shape, rest)
    assert torch.equal(total, x.sum(axis).to(wide).flatten())
    assert torch.equal(largest, x.amax(axis).flatten())
    expected = x.select(axis, 0).clone()
    for position in range(1, shape[axis]):
        expected ^= x.select(axis, position)
    assert torch.equal(parity, expected.flatten())


@triton.jit
def whole_kernel(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    tl.store(out_ptr, tl.sum(x))
    tl.store(out_ptr + 1, tl.max(x))
    tl.store(out_ptr + 2, tl.sum(tl.max(x, axis=1, keep_dims=True) - x))


@pytest.mark.parametrize(("m", "n"), [(1, 1), (1, 64), (64, 1), (8, 32)])
def test_all_axes_at_once(m: int, n: int) -> None:
    x = values(torch.float32, (m, n), m + n)
    out = torch.empty(3)
    whole_kernel[(1,)](x, out, m, n)
    exact = x.double()
    spread = exact.amax(1, keepdim=True) - exact
    expected = torch.stack([exact.sum(), exact.max(), spread.sum()])
    scale = torch.stack([exact.abs().sum(), exact.max().abs(), spread.abs().sum()])
    assert_near(out, expected, terms=m * n, scale=scale)


@triton.jit
def nan_kernel(x_ptr, out_ptr, at_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.store(out_ptr, tl.max(x, axis=0))
    tl.store(out_ptr + 1, tl.min(x, axis=0))
    tl.store(out_ptr + 2, tl.sum(x, axis=0))


@pytest.mark.parametrize("position", [0, 1, 31, 32, 63])
def test_nan_is_no_extreme_and_spoils_a_sum(position: int) -> None:
    x = values(torch.float32, 64, position)
    x[position] = float("nan")
    out = torch.empty(3)
    nan_kernel[(1,)](x, out, torch.empty(2, dtype=torch.int32), 64)
    rest = torch.cat([x[:position], x[position + 1 :]])
    assert out[:2].tolist() == [rest.max().item(), rest.min().item()]
    assert out[2].isnan()


@triton.jit
def merge_moments(mean_a, square_a, count_a, mean_b, square_b, count_b):
    count = count_a + count_b
    delta = mean_b - mean_a
    share = count_b / count
    mean = mean_a + delta * share
    return mean, square_a + square_b + delta * delta * count_a * share, count


@triton.jit
def moments_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    zero = tl.zeros((BLOCK,), tl.float32)
    mean, square, count = tl.reduce((x, zero, zero + 1), 0, merge_moments)
    tl.store(out_ptr, mean)
    tl.store(out_ptr + 1, square / count)
    tl.store(out_ptr + 2, count)


@pytest.mark.parametrize("n", [1, 2, 32, 512])
def test_reduction_with_three_results(n: int) -> None:
    x = values(torch.float32, n, n) + 3
    out = torch.empty(3)
    moments_kernel[(1,)](x, out, n)
    exact = x.double()
    expected = torch.stack([exact.mean(), exact.var(correction=0), torch.tensor(float(n)).double()])
    assert_near(out, expected, terms=4 * n, scale=expected.abs() + 1)


@triton.jit
def tie_kernel(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    value, at = tl.max(x, axis=1, return_indices=True)
    tl.store(out_ptr + tl.arange(0, M), at)
    tl.store(out_ptr + M + tl.arange(0, M), value.to(tl.int32))
    _, low = tl.min(x, axis=0, return_indices=True)
    tl.store(out_ptr + 2 * M + tl.arange(0, N), low)


@given(seed=st.integers(0, 999))
def test_ties_go_to_the_left_along_either_axis(seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    x = torch.randint(0, 3, (8, 64), generator=generator, dtype=torch.int32)
    out = torch.empty(16 + 64, dtype=torch.int32)
    tie_kernel[(1,)](x, out, 8, 64)
    assert out[:8].tolist() == [row.index(max(row)) for row in x.tolist()]
    assert out[8:16].tolist() == x.amax(1).tolist()
    assert out[16:].tolist() == [column.index(min(column)) for column in x.T.tolist()]


@triton.jit
def loop_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    largest = tl.full((BLOCK,), float("-inf"), tl.float32)
    for start in range(0, n, BLOCK):
        index = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + index, mask=index < n, other=0.0)
        total += x
        largest = tl.maximum(largest, tl.where(index < n, x, float("-inf")))
    tl.store(out_ptr, tl.sum(total, axis=0))
    tl.store(out_ptr + 1, tl.max(largest, axis=0))


@given(n=st.integers(1, 5000))
def test_reduction_over_a_loop(n: int) -> None:
    x = values(torch.float32, n, n)
    out = torch.empty(2)
    loop_kernel[(1,)](x, out, n, 128)
    exact = x.double()
    assert_near(
        out,
        torch.stack([exact.sum(), exact.max()]),
        terms=n,
        scale=torch.stack([exact.abs().sum(), exact.max().abs()]),
    )
