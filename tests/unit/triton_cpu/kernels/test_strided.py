# SPDX-License-Identifier: Apache-2.0
"""Tiles with any strides: rows, columns, broadcast, reversed and gathered addresses."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl
from hypothesis import strategies as st

from tests.unit.triton_cpu.kernels.examples import given
from tests.unit.triton_cpu.kernels.tensors import values


@triton.jit
def copy_tile_kernel(
    x_ptr, out_ptr, m, n, x_row, x_col, out_row, out_col, M: tl.constexpr, N: tl.constexpr
):
    rows = tl.arange(0, M)[:, None]
    cols = tl.arange(0, N)[None, :]
    mask = (rows < m) & (cols < n)
    x = tl.load(x_ptr + rows * x_row + cols * x_col, mask=mask, other=0)
    tl.store(out_ptr + rows * out_row + cols * out_col, x, mask=mask)


@pytest.mark.parametrize("dtype", [torch.int8, torch.bfloat16, torch.float32, torch.int64], ids=str)
@given(
    m=st.integers(1, 16),
    n=st.integers(1, 32),
    x_transposed=st.booleans(),
    out_transposed=st.booleans(),
    step=st.integers(1, 3),
)
def test_tiles_of_any_stride(
    dtype: torch.dtype, m: int, n: int, x_transposed: bool, out_transposed: bool, step: int
) -> None:
    x = values(dtype, (n, m) if x_transposed else (m, n), seed=m * 100 + n)
    x = x.T if x_transposed else x
    room = torch.zeros((n, m * step) if out_transposed else (m, n * step), dtype=dtype)
    out = room.T[::step] if out_transposed else room[:, ::step]
    copy_tile_kernel[(1,)](x, out, m, n, *x.stride(), *out.stride(), 16, 32)
    assert torch.equal(out, x)
    untouched = room.clone()
    (untouched.T[::step] if out_transposed else untouched[:, ::step]).zero_()
    assert not untouched.any()


@triton.jit
def outer_kernel(x_ptr, y_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    rows = tl.arange(0, M)
    cols = tl.arange(0, N)
    x = tl.load(x_ptr + rows)[:, None]
    y = tl.load(y_ptr + cols)[None, :]
    tile = tl.broadcast_to(x, (M, N)) * y + (rows[:, None] - cols[None, :])
    tl.store(out_ptr + rows[:, None] * N + cols[None, :], tile)


@pytest.mark.parametrize(("m", "n"), [(1, 8), (4, 1), (16, 64), (64, 4), (2, 2)])
def test_broadcasting(m: int, n: int) -> None:
    x, y = values(torch.int32, m, 1) % 1000, values(torch.int32, n, 2) % 1000
    out = torch.empty(m, n, dtype=torch.int32)
    outer_kernel[(1,)](x, y, out, m, n)
    difference = torch.arange(m)[:, None] - torch.arange(n)[None, :]
    assert torch.equal(out, (x[:, None] * y[None, :] + difference).to(torch.int32))


@triton.jit
def reversed_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    index = tl.arange(0, BLOCK)
    mask = index < n
    tl.store(out_ptr + index, tl.load(x_ptr + (n - 1 - index), mask=mask), mask=mask)


@given(n=st.integers(1, 128))
def test_negative_stride(n: int) -> None:
    x = values(torch.float32, n, n)
    out = torch.empty_like(x)
    reversed_kernel[(1,)](x, out, n, 128)
    assert torch.equal(out, x.flip(0))


@triton.jit
def modular_kernel(x_ptr, out_ptr, n, period, BLOCK: tl.constexpr):
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = index < n
    x = tl.load(x_ptr + index % period + index // period, mask=mask)
    tl.store(out_ptr + index, x, mask=mask)


@given(n=st.integers(1, 200), period=st.integers(2, 37))
def test_addresses_through_division_and_remainder(n: int, period: int) -> None:
    x = values(torch.float32, 400, period)
    out = torch.empty(n)
    modular_kernel[(triton.cdiv(n, 64),)](x, out, n, period, 64)
    index = torch.arange(n)
    assert torch.equal(out, x[index % period + index // period])


@triton.jit
def indirect_kernel(x_ptr, from_ptr, to_ptr, out_ptr, n, BLOCK: tl.constexpr):
    index = tl.arange(0, BLOCK)
    mask = index < n
    source = tl.load(from_ptr + index, mask=mask)
    target = tl.load(to_ptr + index, mask=mask)
    tl.store(out_ptr + target, tl.load(x_ptr + source, mask=mask), mask=mask)


@pytest.mark.parametrize(
    "dtype", [torch.int16, torch.bfloat16, torch.float64, torch.uint8], ids=str
)
@given(n=st.integers(1, 128), seed=st.integers(0, 99))
def test_gather_and_scatter_through_loaded_indices(dtype: torch.dtype, n: int, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    x = values(dtype, 300, seed)
    source = torch.randint(0, 300, (n,), generator=generator)
    target = torch.randperm(n, generator=generator)
    out = torch.zeros(n, dtype=dtype)
    indirect_kernel[(1,)](x, source, target, out, n, 128)
    assert torch.equal(out, torch.zeros(n, dtype=dtype).scatter(0, target, x[source]))


@triton.jit
def batch_kernel(x_ptr, out_ptr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    a = tl.arange(0, A)[:, None, None]
    b = tl.arange(0, B)[None, :, None]
    c = tl.arange(0, C)[None, None, :]
    x = tl.load(x_ptr + (a * B + b) * C + c)
    tl.store(out_ptr + (c * A + a) * B + b, x + a)


def test_three_axes_permuted_by_addresses() -> None:
    x = values(torch.float32, (4, 8, 16), 3)
    out = torch.empty(16, 4, 8)
    batch_kernel[(1,)](x, out, 4, 8, 16)
    assert torch.equal(out, (x + torch.arange(4.0)[:, None, None]).permute(2, 0, 1))


@triton.jit
def scalar_kernel(x_ptr, out_ptr, n):
    program = tl.program_id(0) + tl.num_programs(0) * tl.program_id(1)
    value = tl.load(x_ptr + program)
    tl.store(out_ptr + n - 1 - program, value * 2 + n)


def test_scalar_load_and_store_over_a_two_dimensional_grid() -> None:
    x = values(torch.float32, 12, 4)
    out = torch.empty(12)
    scalar_kernel[(4, 3)](x, out, 12)
    assert torch.equal(out, (x * 2 + 12).flip(0))
