# SPDX-License-Identifier: Apache-2.0
"""Loops that carry tensors, branches, early returns and calls."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl
from hypothesis import strategies as st

from tests.unit.triton_cpu.kernels.examples import given
from tests.unit.triton_cpu.kernels.tensors import values


@triton.jit
def carry_kernel(x_ptr, out_ptr, n, step, BLOCK: tl.constexpr):
    index = tl.arange(0, BLOCK)
    a = tl.load(x_ptr + index)
    b = tl.zeros((BLOCK,), tl.int32)
    count = 0
    for i in range(0, n, step):
        a, b = b + i, a
        count += 1
    tl.store(out_ptr + index, a)
    tl.store(out_ptr + BLOCK + index, b)
    tl.store(out_ptr + 2 * BLOCK + index, count + index)


@given(n=st.integers(0, 20), step=st.integers(1, 4))
def test_for_loop_swaps_its_carried_tensors(n: int, step: int) -> None:
    x = values(torch.int32, 64, 1)
    out = torch.empty(3 * 64, dtype=torch.int32)
    carry_kernel[(1,)](x, out, n, step, 64)
    a, b = x, torch.zeros_like(x)
    for i in range(0, n, step):
        a, b = b + i, a
    count = len(range(0, n, step)) + torch.arange(64, dtype=torch.int32)
    assert torch.equal(out, torch.cat([a, b, count]))


@triton.jit
def collatz_kernel(x_ptr, out_ptr):
    program = tl.program_id(0)
    value = tl.load(x_ptr + program)
    steps = 0
    while value != 1:
        if value % 2 == 0:  # noqa: SIM108 (the branch is what is tested)
            value = value // 2
        else:
            value = 3 * value + 1
        steps += 1
    tl.store(out_ptr + program, steps)


def test_while_loop_with_a_branch_inside() -> None:
    x = torch.arange(1, 41, dtype=torch.int64)
    out = torch.empty(40, dtype=torch.int32)
    collatz_kernel[(40,)](x, out)
    expected = []
    for value in x.tolist():
        steps = 0
        while value != 1:
            value = value // 2 if value % 2 == 0 else 3 * value + 1
            steps += 1
        expected.append(steps)
    assert out.tolist() == expected


@triton.jit
def tensor_while_kernel(x_ptr, out_ptr, limit, BLOCK: tl.constexpr):
    index = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + index)
    while tl.sum(x, axis=0) < limit:
        x = x * 2 + 1
    tl.store(out_ptr + index, x)


@given(limit=st.integers(0, 100_000))
def test_while_loop_whose_condition_reduces_its_tensor(limit: int) -> None:
    x = torch.arange(32, dtype=torch.int32)
    out = torch.empty_like(x)
    tensor_while_kernel[(1,)](x, out, limit, 32)
    while x.sum() < limit:
        x = x * 2 + 1
    assert torch.equal(out, x)


@triton.jit
def branch_kernel(x_ptr, out_ptr, threshold, BLOCK: tl.constexpr):
    index = tl.arange(0, BLOCK)
    program = tl.program_id(0)
    x = tl.load(x_ptr + program * BLOCK + index)
    y = x
    if program < threshold:
        y = x + tl.sum(x, axis=0)
        tl.store(out_ptr + program * BLOCK + index, y * 2)
    elif program == threshold:
        y = -x
        tl.store(out_ptr + program * BLOCK + index, y)
    else:
        tl.store(out_ptr + program * BLOCK + index, tl.zeros((BLOCK,), tl.int32))
    tl.store(out_ptr + (tl.num_programs(0) + program) * BLOCK + index, y)


@given(threshold=st.integers(-1, 4))
def test_branches_yield_tensors(threshold: int) -> None:
    x = torch.arange(4 * 16, dtype=torch.int32).reshape(4, 16)
    out = torch.empty(8, 16, dtype=torch.int32)
    branch_kernel[(4,)](x, out, threshold, 16)
    for program in range(4):
        row = x[program]
        if program < threshold:
            y = row + row.sum().int()
            first = y * 2
        elif program == threshold:
            first = y = -row
        else:
            first, y = torch.zeros_like(row), row
        assert torch.equal(out[program], first)
        assert torch.equal(out[4 + program], y)


@triton.jit
def early_return_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    if program * BLOCK >= n:
        return
    index = program * BLOCK + tl.arange(0, BLOCK)
    if program == 1:
        tl.store(out_ptr + index, tl.full((BLOCK,), -1, tl.int32), mask=index < n)
        return
    tl.store(out_ptr + index, tl.load(x_ptr + index, mask=index < n), mask=index < n)


@given(n=st.integers(0, 80))
def test_early_return(n: int) -> None:
    x = values(torch.int32, 80, n)
    out = torch.zeros(80, dtype=torch.int32)
    early_return_kernel[(5,)](x, out, n, 16)
    expected = torch.zeros_like(x)
    expected[:n] = x[:n]
    expected[16 : max(16, min(32, n))] = -1
    assert torch.equal(out, expected)


@triton.jit
def nested_kernel(x_ptr, out_ptr, m, n, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.int32)
    index = tl.arange(0, BLOCK)
    for i in range(m):
        part = tl.zeros((BLOCK,), tl.int32)
        for j in range(i, n):
            part += tl.load(x_ptr + j * BLOCK + index) * (i + 1)
        if i % 2 == 0:
            total += part
        else:
            total -= part
    tl.store(out_ptr + index, total)


@given(m=st.integers(0, 5), n=st.integers(0, 5))
def test_nested_loops(m: int, n: int) -> None:
    x = torch.arange(5 * 32, dtype=torch.int32).reshape(5, 32)
    out = torch.empty(32, dtype=torch.int32)
    nested_kernel[(1,)](x, out, m, n, 32)
    expected = torch.zeros(32, dtype=torch.int32)
    for i in range(m):
        expected += (1 - i % 2 * 2) * (x[i:n].sum(0).int() * (i + 1))
    assert torch.equal(out, expected)


@triton.jit(noinline=True)
def apart(x, scale):
    if x > 5:
        return x * scale + 1
    return x - scale


@triton.jit
def call_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    first = apart(tl.load(x_ptr + program), 3)
    second = apart(first, program)
    tl.store(out_ptr + program * BLOCK + tl.arange(0, BLOCK), second + tl.arange(0, BLOCK))


def test_function_that_is_not_inlined() -> None:
    x = torch.arange(8, dtype=torch.int32)
    out = torch.empty(8, 4, dtype=torch.int32)
    call_kernel[(8,)](x, out, 4)
    first = torch.where(x > 5, x * 3 + 1, x - 3)
    second = torch.where(first > 5, first * x + 1, first - x)
    assert torch.equal(out, second[:, None] + torch.arange(4, dtype=torch.int32))


@triton.jit
def static_kernel(out_ptr, BLOCK: tl.constexpr):
    index = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.int32)
    for i in tl.static_range(5):
        total += index * i
    tl.store(out_ptr + index, total)


@pytest.mark.parametrize("block", [1, 2, 64])
def test_unrolled_loop(block: int) -> None:
    out = torch.empty(block, dtype=torch.int32)
    static_kernel[(1,)](out, block)
    assert out.tolist() == [10 * i for i in range(block)]
