# SPDX-License-Identifier: Apache-2.0
"""Overlapping tensors give what sequential execution gives, each load and store whole."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl
from hypothesis import strategies as st

from tests.unit.triton_cpu.kernels.examples import given
from tests.unit.triton_cpu.kernels.tensors import values


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    index = tl.arange(0, BLOCK)
    mask = index < n
    x = tl.load(x_ptr + index, mask=mask)
    y = tl.load(y_ptr + index, mask=mask)
    tl.store(out_ptr + index, x + y, mask=mask)


@given(n=st.integers(1, 256))
def test_in_place(n: int) -> None:
    x, y = values(torch.float32, n, 1), values(torch.float32, n, 2)
    expected = x + y
    add_kernel[(1,)](x, y, x, n, 256)
    assert torch.equal(x, expected)


@given(shift=st.integers(-100, 100), n=st.integers(1, 256))
def test_store_shifted_over_its_own_input(shift: int, n: int) -> None:
    room = values(torch.int32, 512, 1)
    x, out = room[128 : 128 + n], room[128 + shift : 128 + shift + n]
    y = values(torch.int32, n, 2)
    expected = room.clone()
    expected[128 + shift : 128 + shift + n] = x + y
    add_kernel[(1,)](x, y, out, n, 256)
    assert torch.equal(room, expected)


@triton.jit
def read_after_write_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    index = tl.arange(0, BLOCK)
    mask = index < n
    x = tl.load(x_ptr + index, mask=mask)
    tl.store(out_ptr + index, x + 1, mask=mask)
    again = tl.load(x_ptr + index, mask=mask)
    tl.store(out_ptr + index, again * 2, mask=mask)


@pytest.mark.parametrize("shift", [-7, -1, 0, 1, 40, 300])
def test_second_load_sees_the_first_store(shift: int) -> None:
    n = 128
    room = values(torch.int32, 1024, 1)
    expected = room.clone()
    x, out = room[400 : 400 + n], room[400 + shift : 400 + shift + n]
    e_x, e_out = expected[400 : 400 + n], expected[400 + shift : 400 + shift + n]
    e_out.copy_((e_x + 1).clone())
    e_out.copy_((e_x * 2).clone())
    read_after_write_kernel[(1,)](x, out, n, 128)
    assert torch.equal(room, expected)


@triton.jit
def transpose_kernel(x_ptr, N: tl.constexpr):
    rows, cols = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + rows * N + cols)
    tl.store(x_ptr + cols * N + rows, x)


def test_transpose_in_place() -> None:
    x = values(torch.float32, (32, 32), 1)
    expected = x.T.clone()
    transpose_kernel[(1,)](x, 32)
    assert torch.equal(x, expected)


@triton.jit
def running_kernel(x_ptr, n, BLOCK: tl.constexpr):
    index = tl.arange(0, BLOCK)
    for i in range(1, n):
        before = tl.load(x_ptr + (i - 1) * BLOCK + index)
        here = tl.load(x_ptr + i * BLOCK + index)
        tl.store(x_ptr + i * BLOCK + index, before + here)


def test_loop_reads_what_its_last_turn_wrote() -> None:
    x = values(torch.int32, (10, 32), 1)
    expected = x.cumsum(0).int()
    running_kernel[(1,)](x, 10, 32)
    assert torch.equal(x, expected)


@triton.jit
def two_stores_kernel(a_ptr, b_ptr, BLOCK: tl.constexpr):
    index = tl.arange(0, BLOCK)
    tl.store(a_ptr + index, index)
    tl.store(b_ptr + index, index + 1000)


@pytest.mark.parametrize("shift", [-3, 0, 5])
def test_later_store_wins(shift: int) -> None:
    room = torch.zeros(200, dtype=torch.int32)
    two_stores_kernel[(1,)](room[50:], room[50 + shift :], 64)
    expected = torch.zeros_like(room)
    expected[50:114] = torch.arange(64)
    expected[50 + shift : 114 + shift] = torch.arange(64) + 1000
    assert torch.equal(room, expected)


@triton.jit
def reduce_then_store_kernel(x_ptr, BLOCK: tl.constexpr):
    index = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + index)
    tl.store(x_ptr + index, index)
    tl.store(x_ptr, tl.sum(x, axis=0))


def test_value_loaded_before_a_store_stays() -> None:
    x = values(torch.int32, 256, 1) % 1000
    total = x.sum().item()
    reduce_then_store_kernel[(1,)](x, 256)
    assert x.tolist() == [total, *range(1, 256)]
