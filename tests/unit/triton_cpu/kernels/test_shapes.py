# SPDX-License-Identifier: Apache-2.0
"""Operations that move elements: join, split, cat, permute, reshape, flip, sort, topk, gather."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl
from hypothesis import strategies as st

from tests.unit.triton_cpu.kernels.examples import given
from tests.unit.triton_cpu.kernels.tensors import values

DTYPES = [torch.int8, torch.int32, torch.float16, torch.float32, torch.int64]


@triton.jit
def join_kernel(x_ptr, y_ptr, joined_ptr, swapped_ptr, woven_ptr, N: tl.constexpr):
    index = tl.arange(0, N)
    x, y = tl.load(x_ptr + index), tl.load(y_ptr + index)
    pairs = tl.join(x, y)
    tl.store(joined_ptr + index[:, None] * 2 + tl.arange(0, 2)[None, :], pairs)
    left, right = tl.split(pairs)
    tl.store(swapped_ptr + index, right)
    tl.store(swapped_ptr + N + index, left)
    tl.store(woven_ptr + tl.arange(0, 2 * N), tl.interleave(x, y))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("n", [1, 4, 128])
def test_join_split_interleave(dtype: torch.dtype, n: int) -> None:
    x, y = values(dtype, n, 1), values(dtype, n, 2)
    joined, swapped = torch.empty(n, 2, dtype=dtype), torch.empty(2 * n, dtype=dtype)
    woven = torch.empty(2 * n, dtype=dtype)
    join_kernel[(1,)](x, y, joined, swapped, woven, n)
    assert torch.equal(joined, torch.stack([x, y], 1))
    assert torch.equal(swapped, torch.cat([y, x]))
    assert torch.equal(woven, joined.flatten())


@triton.jit
def cat_kernel(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    index = tl.arange(0, N)
    both = tl.cat(tl.load(x_ptr + index), tl.load(y_ptr + index), can_reorder=True)
    tl.store(out_ptr + tl.arange(0, 2 * N), both)


def test_cat_holds_both_operands() -> None:
    x, y = values(torch.int32, 64, 1), values(torch.int32, 64, 2)
    out = torch.empty(128, dtype=torch.int32)
    cat_kernel[(1,)](x, y, out, 64)
    # The operation may reorder: only the set of elements is promised.
    assert torch.equal(out.sort().values, torch.cat([x, y]).sort().values)


@triton.jit
def rearrange_kernel(x_ptr, t_ptr, p_ptr, r_ptr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, A * B * C))
    cube = tl.reshape(x, (A, B, C))
    tl.store(p_ptr + tl.arange(0, A * B * C), tl.reshape(tl.permute(cube, (2, 0, 1)), (A * B * C,)))
    flat = tl.reshape(cube, (A * B, C))
    tl.store(
        t_ptr + tl.arange(0, C)[:, None] * (A * B) + tl.arange(0, A * B)[None, :], tl.trans(flat)
    )
    tl.store(r_ptr + tl.arange(0, A * B * C), tl.ravel(tl.trans(flat)))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(2, 4, 8), (1, 16, 2), (4, 1, 32)])
def test_reshape_and_permute(dtype: torch.dtype, shape: tuple[int, int, int]) -> None:
    x = values(dtype, shape, 1)
    a, b, c = shape
    transposed, permuted = torch.empty(c, a * b, dtype=dtype), torch.empty(x.numel(), dtype=dtype)
    raveled = torch.empty_like(permuted)
    rearrange_kernel[(1,)](x, transposed, permuted, raveled, *shape)
    assert torch.equal(transposed, x.reshape(a * b, c).T)
    assert torch.equal(permuted, x.permute(2, 0, 1).flatten())
    assert torch.equal(raveled, transposed.flatten())


@triton.jit
def order_kernel(
    x_ptr, up_ptr, down_ptr, top_ptr, flipped_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr
):
    rows = tl.arange(0, M)[:, None]
    place = rows * N + tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + place)
    tl.store(up_ptr + place, tl.sort(x))
    tl.store(down_ptr + place, tl.sort(x, descending=True))
    tl.store(top_ptr + rows * K + tl.arange(0, K)[None, :], tl.topk(x, K))
    tl.store(flipped_ptr + place, tl.flip(x, 1))


@pytest.mark.parametrize("dtype", [torch.int32, torch.float32, torch.float16], ids=str)
@pytest.mark.parametrize(("m", "n"), [(1, 64), (8, 16)])
def test_sort_topk_flip(dtype: torch.dtype, m: int, n: int) -> None:
    x = values(dtype, (m, n), n)
    up, down, flipped = (torch.empty_like(x) for _ in range(3))
    top = torch.empty(m, 4, dtype=dtype)
    order_kernel[(1,)](x, up, down, top, flipped, m, n, 4)
    assert torch.equal(up, x.sort(1).values)
    assert torch.equal(down, x.sort(1, descending=True).values)
    assert torch.equal(top, x.topk(4, 1).values)
    assert torch.equal(flipped, x.flip(1))


@triton.jit
def gather_kernel(
    x_ptr,
    index_ptr,
    out_ptr,
    AXIS: tl.constexpr,
    M: tl.constexpr,
    N: tl.constexpr,
    P: tl.constexpr,
    Q: tl.constexpr,
):
    x = tl.load(x_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    place = tl.arange(0, P)[:, None] * Q + tl.arange(0, Q)[None, :]
    tl.store(out_ptr + place, tl.gather(x, tl.load(index_ptr + place), AXIS))


@pytest.mark.parametrize(("axis", "out_shape"), [(0, (32, 16)), (1, (8, 64)), (1, (8, 4))])
@given(seed=st.integers(0, 99))
def test_gather(axis: int, out_shape: tuple[int, int], seed: int) -> None:
    x = values(torch.float32, (8, 16), seed)
    generator = torch.Generator().manual_seed(seed)
    index = torch.randint(0, x.shape[axis], out_shape, generator=generator)
    out = torch.empty(out_shape)
    gather_kernel[(1,)](x, index.int(), out, axis, 8, 16, *out_shape)
    assert torch.equal(out, x.gather(axis, index))


@triton.jit
def histogram_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    index = tl.arange(0, BLOCK)
    mask = index < n
    x = tl.load(x_ptr + index, mask=mask, other=0)
    tl.store(out_ptr + tl.arange(0, BINS), tl.histogram(x, BINS, mask=mask))


@given(n=st.integers(0, 256), seed=st.integers(0, 99))
def test_histogram_counts_unmasked_values(n: int, seed: int) -> None:
    x = torch.randint(0, 32, (256,), generator=torch.Generator().manual_seed(seed)).int()
    out = torch.empty(32, dtype=torch.int32)
    histogram_kernel[(1,)](x, out, n, 256, 32)
    assert out.tolist() == torch.bincount(x[:n], minlength=32).tolist()
