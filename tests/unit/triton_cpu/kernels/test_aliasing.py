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


@triton.jit
def combine_kernel(x_ptr, y_ptr, sum_ptr, difference_ptr, n, BLOCK: tl.constexpr):
    index = tl.arange(0, BLOCK)
    mask = index < n
    x = tl.load(x_ptr + index, mask=mask)
    y = tl.load(y_ptr + index, mask=mask)
    tl.store(sum_ptr + index, x + y, mask=mask)
    tl.store(difference_ptr + index, x - y, mask=mask)


@given(
    starts=st.tuples(*[st.integers(0, 3000)] * 4),
    n=st.integers(1, 1024),
    dtype=st.sampled_from([torch.int32, torch.int8, torch.float16, torch.float64]),
)
def test_blocks_of_many_steps_anywhere_over_each_other(
    starts: tuple[int, int, int, int], n: int, dtype: torch.dtype
) -> None:
    room = (torch.arange(4100) % 97).to(dtype)
    x, y, total, difference = (room[start : start + n] for start in starts)
    expected = room.clone()
    expected[starts[2] : starts[2] + n] = x + y
    expected[starts[3] : starts[3] + n] = x - y
    combine_kernel[(1,)](x, y, total, difference, n, 1024)
    assert torch.equal(room, expected)


@given(shift=st.sampled_from([-1024, -1023, -64, -33, -32, -1, 0, 1, 31, 32, 33, 1023, 1024]))
def test_long_block_shifted_over_its_own_input(shift: int) -> None:
    room = torch.arange(4096, dtype=torch.int32)
    x, out = room[1500:2524], room[1500 + shift : 2524 + shift]
    y = values(torch.int32, 1024, 2)
    expected = room.clone()
    expected[1500 + shift : 2524 + shift] = x + y
    add_kernel[(1,)](x, y, out, 1024, 1024)
    assert torch.equal(room, expected)


@triton.jit
def matrix_kernel(x_ptr, out_ptr, stride, out_stride, M: tl.constexpr, N: tl.constexpr):
    rows, columns = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + rows * stride + columns)
    tl.store(out_ptr + rows * out_stride + columns, x + 1)


@given(
    row=st.integers(0, 3),
    column=st.integers(0, 64),
    strides=st.sampled_from([(200, 200), (96, 72)]),
)
def test_matrices_in_one_tensor(row: int, column: int, strides: tuple[int, int]) -> None:
    room = torch.arange(5000, dtype=torch.int32)
    shape = (16, 64)
    x = room.as_strided(shape, (strides[0], 1), 200)
    start = 200 * row + column
    out = room.as_strided(shape, (strides[1], 1), start)
    expected = room.clone()
    expected.as_strided(shape, (strides[1], 1), start).copy_(x + 1)
    matrix_kernel[(1,)](x, out, *strides, *shape)
    assert torch.equal(room, expected)


@triton.jit
def mask_from_memory_kernel(x_ptr, mask_ptr, out_ptr, BLOCK: tl.constexpr):
    index = tl.arange(0, BLOCK)
    mask = tl.load(mask_ptr + index) != 0
    tl.store(out_ptr + index, tl.load(x_ptr + index) * 3, mask=mask)


@pytest.mark.parametrize("start", [0, 40, 900])
def test_mask_that_the_store_overwrites(start: int) -> None:
    room = values(torch.int32, 2048, 1) % 2
    expected = room.clone()
    out = expected[start : start + 512]
    out[room[:512] != 0] = room[1024:1536][room[:512] != 0] * 3
    mask_from_memory_kernel[(1,)](room[1024:], room, room[start:], 512)
    assert torch.equal(room, expected)
