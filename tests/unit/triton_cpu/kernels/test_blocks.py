# SPDX-License-Identifier: Apache-2.0
"""Block pointers and tensor descriptors, with tiles that hang over the edges."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl
from hypothesis import strategies as st

from tests.unit.triton_cpu.kernels.examples import given
from tests.unit.triton_cpu.kernels.tensors import values


@triton.jit
def pointer_kernel(x_ptr, out_ptr, m, n, M: tl.constexpr, N: tl.constexpr):
    source = tl.make_block_ptr(x_ptr, (m, n), (n, 1), (0, 0), (M, N), (1, 0))
    target = tl.make_block_ptr(out_ptr, (n, m), (m, 1), (0, 0), (N, M), (1, 0))
    for _ in range(0, n, N):
        tile = tl.load(source, boundary_check=(0, 1), padding_option="zero")
        tl.store(target, tl.trans(tile) * 2, boundary_check=(0, 1))
        source = tl.advance(source, (0, N))
        target = tl.advance(target, (N, 0))


@pytest.mark.skipif(
    int(triton.__version__.split(".")[1]) >= 9, reason="Triton 3.9 has no block pointers any more"
)
@given(m=st.integers(1, 16), n=st.integers(1, 60))
def test_block_pointer_walks_over_a_ragged_matrix(m: int, n: int) -> None:
    x = values(torch.float32, (m, n), m + n)
    out = torch.empty(n, m)
    pointer_kernel[(1,)](x, out, m, n, 16, 16)
    assert torch.equal(out, x.T * 2)


@triton.jit
def descriptor_kernel(x_ptr, out_ptr, m, n, M: tl.constexpr, N: tl.constexpr):
    source = tl.make_tensor_descriptor(x_ptr, [m, n], [n, 1], [M, N])
    target = tl.make_tensor_descriptor(out_ptr, [m, n], [n, 1], [M, N])
    row, col = tl.program_id(0) * M, tl.program_id(1) * N
    tile = source.load([row, col])
    target.store([row, col], tile + tl.sum(tile))


@given(m=st.integers(1, 20), n=st.integers(1, 10).map(lambda k: 4 * k))
def test_descriptor_pads_with_zero_and_stores_inside(m: int, n: int) -> None:
    x = values(torch.int32, (m, n), m + n) % 1000
    out = torch.empty_like(x)
    descriptor_kernel[(triton.cdiv(m, 8), triton.cdiv(n, 16))](x, out, m, n, 8, 16)
    expected = x.clone()
    for row in range(0, m, 8):
        for col in range(0, n, 16):
            tile = expected[row : row + 8, col : col + 16]
            tile += x[row : row + 8, col : col + 16].sum().int()
    assert torch.equal(out, expected)


@triton.jit
def host_descriptor_kernel(source, target, M: tl.constexpr, N: tl.constexpr):
    tile = source.load([0, 0])
    target.store([0, 0], tile * 3)


def test_descriptor_made_on_the_host() -> None:
    from triton.tools.tensor_descriptor import TensorDescriptor

    x = values(torch.float32, (6, 12), 1)
    out = torch.zeros(6, 12)
    source, target = (TensorDescriptor.from_tensor(t, [8, 16]) for t in (x, out))
    host_descriptor_kernel[(1,)](source, target, 8, 16)
    assert torch.equal(out, x * 3)
