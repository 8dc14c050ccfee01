# SPDX-License-Identifier: Apache-2.0
"""Atomic operations between programs that run at the same time, and within one."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl

from tests.unit.triton_cpu.kernels.tensors import values


@triton.jit
def integer_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = index < n
    x = tl.load(x_ptr + index, mask=mask)
    tl.atomic_add(out_ptr + index % 4, x, mask=mask)
    tl.atomic_max(out_ptr + 4 + index % 4, x, mask=mask)
    tl.atomic_min(out_ptr + 8 + index % 4, x, mask=mask)
    tl.atomic_and(out_ptr + 12 + index % 4, x, mask=mask)
    tl.atomic_or(out_ptr + 16 + index % 4, x, mask=mask)
    tl.atomic_xor(out_ptr + 20 + index % 4, x, mask=mask)


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64], ids=str)
def test_integer_updates_are_all_counted(dtype: torch.dtype) -> None:
    n = 4 * 250
    x = values(dtype, n, 1)
    start = values(dtype, 24, 2)
    out = start.clone()
    integer_kernel[(triton.cdiv(n, 64),)](x, out, n, 64)
    expected = start.clone().reshape(6, 4)
    for row in x.reshape(-1, 4):
        expected[0] += row
        expected[1] = torch.maximum(expected[1], row)
        expected[2] = torch.minimum(expected[2], row)
        expected[3] &= row
        expected[4] |= row
        expected[5] ^= row
    assert torch.equal(out, expected.flatten())


@triton.jit
def float_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = index < n
    x = tl.load(x_ptr + index, mask=mask)
    tl.atomic_add(out_ptr + index % 2, x, mask=mask)


@pytest.mark.parametrize(
    "dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str
)
def test_float_sums(dtype: torch.dtype) -> None:
    # Small integers: every partial sum is exact, in any order, in every dtype.
    x = (torch.arange(200) % 3 - 1).to(dtype)
    out = torch.zeros(2, dtype=dtype)
    float_kernel[(4,)](x, out, 200, 64)
    assert torch.equal(out, x.reshape(-1, 2).double().sum(0).to(dtype))


@triton.jit
def extremes_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    index = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + index, mask=index < n)
    tl.atomic_max(out_ptr + index * 0, x, mask=index < n)
    tl.atomic_min(out_ptr + 1 + index * 0, x, mask=index < n)


def test_float_extremes_of_either_sign() -> None:
    for x in (values(torch.float32, 50, 1), -values(torch.float32, 50, 1).abs()):
        out = torch.tensor([-100.0, 100.0])
        extremes_kernel[(1,)](x, out, 50, 64)
        assert out.tolist() == [x.max().item(), x.min().item()]


@triton.jit
def old_value_kernel(out_ptr, seen_ptr):
    old = tl.atomic_add(out_ptr, 1)
    tl.store(seen_ptr + old, tl.program_id(0))


def test_each_program_sees_its_own_old_value() -> None:
    out, seen = torch.zeros(1, dtype=torch.int32), torch.full((100,), -1, dtype=torch.int32)
    old_value_kernel[(100,)](out, seen)
    assert out.item() == 100
    assert sorted(seen.tolist()) == list(range(100))


@triton.jit
def exchange_kernel(x_ptr, out_ptr, old_ptr, BLOCK: tl.constexpr):
    index = tl.arange(0, BLOCK)
    tl.store(old_ptr + index, tl.atomic_xchg(out_ptr + index, tl.load(x_ptr + index)))


def test_exchange() -> None:
    x, out = values(torch.int32, 32, 1), values(torch.int32, 32, 2)
    before, old = out.clone(), torch.empty_like(out)
    exchange_kernel[(1,)](x, out, old, 32)
    assert torch.equal(out, x)
    assert torch.equal(old, before)


@triton.jit
def compare_kernel(out_ptr, old_ptr, expected, BLOCK: tl.constexpr):
    index = tl.arange(0, BLOCK)
    compare = tl.full((BLOCK,), 0, tl.int32) + expected
    tl.store(old_ptr + index, tl.atomic_cas(out_ptr + index, compare, index + 100))


def test_compare_and_swap_of_a_tensor() -> None:
    before = torch.arange(32, dtype=torch.int32) % 3
    out, old = before.clone(), torch.empty_like(before)
    compare_kernel[(1,)](out, old, 2, 32)
    assert torch.equal(old, before)
    assert torch.equal(out, torch.where(before == 2, torch.arange(32) + 100, before).int())


@triton.jit
def lock_kernel(lock_ptr, count_ptr):
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    tl.store(count_ptr, tl.load(count_ptr) + 1)
    tl.atomic_xchg(lock_ptr, 0)


def test_spin_lock_guards_a_plain_counter() -> None:
    lock, count = torch.zeros(1, dtype=torch.int32), torch.zeros(1, dtype=torch.int32)
    lock_kernel[(64,)](lock, count)
    assert count.item() == 64
