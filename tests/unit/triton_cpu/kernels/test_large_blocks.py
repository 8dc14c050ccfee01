# SPDX-License-Identifier: Apache-2.0
"""Tiles far larger than a stack, and results that do not depend on the number of threads."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl

from tests.unit.triton_cpu.kernels.tensors import assert_near, values


@triton.jit
def softmax_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    index = tl.arange(0, BLOCK)
    mask = index < n
    x = tl.load(x_ptr + row * n + index, mask=mask, other=float("-inf"))
    weight = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * n + index, weight / tl.sum(weight, axis=0), mask=mask)


@pytest.mark.parametrize(("n", "block"), [(65_536, 65_536), (40_001, 65_536), (100, 16_384)])
def test_softmax_of_a_long_row(n: int, block: int) -> None:
    x = values(torch.float32, (2, n), n)
    out = torch.empty_like(x)
    softmax_kernel[(2,)](x, out, n, block)
    exact = x.double().softmax(1)
    assert_near(out, exact, terms=n)


@triton.jit
def tile_kernel(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    rows, cols = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + rows * N + cols)
    centred = x - (tl.sum(x, axis=0) / M)[None, :]
    tl.store(out_ptr + cols * M + rows, centred * tl.sum(x, axis=1)[:, None])


def test_tile_of_a_megabyte() -> None:
    m, n = 512, 512
    x = values(torch.float32, (m, n), 1)
    out = torch.empty(n, m)
    tile_kernel[(1,)](x, out, m, n)
    a = x.double()
    exact = ((a - a.mean(0)) * a.sum(1, keepdim=True)).T
    scale = ((a.abs() + a.abs().mean(0)) * a.abs().sum(1, keepdim=True)).T
    assert_near(out, exact, terms=m + n, scale=scale)


@pytest.mark.usefixtures("thread_count")
def test_result_is_the_same_on_one_and_two_threads() -> None:
    x = values(torch.float32, (97, 1000), 1)
    results = []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        out = torch.empty_like(x)
        softmax_kernel[(97,)](x, out, 1000, 1024)
        results.append(out)
    assert torch.equal(*results)
