# SPDX-License-Identifier: Apache-2.0
"""Kernels in the manner of Triton's tutorials, each against float64.

They show what people write first: persistent rows, grouped tiles under an autotuner, dropout from a
seed, locks, causal attention, library functions, addresses in memory, descriptors.
"""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

from tests.unit.triton_cpu.kernels.tensors import assert_near, values


@triton.jit
def persistent_softmax(x, out, stride, rows, columns, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=2):
        value = tl.load(x + row * stride + i, mask=i < columns, other=-float("inf"))
        share = tl.exp(value - tl.max(value, axis=0))
        tl.store(out + row * stride + i, share / tl.sum(share, axis=0), mask=i < columns)


def test_softmax_by_persistent_programs() -> None:
    x = values(torch.float32, (45, 781), 1)
    out = torch.empty_like(x)
    persistent_softmax[(4,)](x, out, x.stride(0), *x.shape, BLOCK=1024)
    assert_near(out, torch.softmax(x.double(), -1), terms=781)


@triton.jit
def leaky_relu(x):
    return tl.where(x >= 0, x, 0.01 * x)


@triton.autotune(
    configs=[
        triton.Config({"M": 64, "N": 32, "K": 32, "GROUP": 8}, num_stages=3, num_warps=8),
        triton.Config({"M": 32, "N": 64, "K": 64, "GROUP": 2}, num_stages=4, num_warps=4),
    ],
    key=["m", "n", "k"],
)
@triton.jit
def grouped_matmul(
    a, b, c, m, n, k, a_row, a_column, b_row, b_column, c_row, c_column,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, GROUP: tl.constexpr,
    ACTIVATION: tl.constexpr,
):  # fmt: skip
    program = tl.program_id(0)
    across, down = tl.cdiv(n, N), tl.cdiv(m, M)
    group = program // (GROUP * across)
    size = min(down - group * GROUP, GROUP)
    tile_m = group * GROUP + (program % (GROUP * across)) % size
    tile_n = (program % (GROUP * across)) // size
    rows = (tile_m * M + tl.arange(0, M)) % m
    columns = (tile_n * N + tl.arange(0, N)) % n
    inner = tl.arange(0, K)
    a_at = a + rows[:, None] * a_row + inner[None, :] * a_column
    b_at = b + inner[:, None] * b_row + columns[None, :] * b_column
    total = tl.zeros((M, N), dtype=tl.float32)
    for step in range(tl.cdiv(k, K)):
        left = tl.load(a_at, mask=inner[None, :] < k - step * K, other=0.0)
        right = tl.load(b_at, mask=inner[:, None] < k - step * K, other=0.0)
        total = tl.dot(left, right, total)
        a_at += K * a_column
        b_at += K * b_row
    if ACTIVATION == "leaky_relu":
        total = leaky_relu(total)
    rows, columns = tile_m * M + tl.arange(0, M), tile_n * N + tl.arange(0, N)
    inside = (rows[:, None] < m) & (columns[None, :] < n)
    at = c + rows[:, None] * c_row + columns[None, :] * c_column
    tl.store(at, total.to(c.dtype.element_ty), mask=inside)


@pytest.mark.parametrize("activation", ["", "leaky_relu"])
def test_matmul_of_grouped_tiles_with_an_activation(activation: str) -> None:
    m, n, k = 150, 130, 100
    a, b = values(torch.float16, (m, k), 1), values(torch.float16, (k, n), 2)
    c = torch.empty(m, n, dtype=torch.float16)

    def grid(meta: dict[str, int]) -> tuple[int]:
        return (triton.cdiv(m, meta["M"]) * triton.cdiv(n, meta["N"]),)

    grouped_matmul[grid](
        a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride(), ACTIVATION=activation
    )  # fmt: skip
    exact = a.double() @ b.double()
    if activation:
        exact = torch.nn.functional.leaky_relu(exact, 0.01)
    scale = a.double().abs() @ b.double().abs()
    assert_near(c, exact, terms=k + 1, scale=scale, arithmetic=torch.float32)


@triton.jit
def seeded_dropout(x, out, n, p, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n)
    keep = tl.rand(seed, i) > p
    tl.store(out + i, tl.where(keep, value / (1 - p), 0.0), mask=i < n)


def test_dropout_is_a_function_of_its_seed() -> None:
    n, p = 20_000, 0.5
    x = values(torch.float32, n, 1)
    outputs = [torch.empty_like(x) for _ in range(3)]
    for out, seed in zip(outputs, (123, 123, 512), strict=True):
        seeded_dropout[(triton.cdiv(n, 1024),)](x, out, n, p, seed, BLOCK=1024)
    assert torch.equal(outputs[0], outputs[1])
    assert not torch.equal(outputs[0], outputs[2])
    kept = outputs[0] != 0
    assert torch.equal(outputs[0][kept], x[kept] * 2)
    # Six standard deviations of a binomial count.
    assert abs(kept.sum().item() - n * p) < 6 * (n * p * (1 - p)) ** 0.5


@triton.jit
def norm_backward(
    dx, dy, dw, db, x, w, mean, inverse, lock, count, columns,
    GROUP: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    inside = i < columns
    value = tl.load(x + row * columns + i, mask=inside, other=0.0)
    slope = tl.load(dy + row * columns + i, mask=inside, other=0.0)
    weight = tl.load(w + i, mask=inside)
    scale = tl.load(inverse + row)
    normal = tl.where(inside, (value - tl.load(mean + row)) * scale, 0.0)
    scaled = tl.where(inside, weight * slope, 0.0)
    shared = tl.sum(normal * scaled, axis=0) / columns
    level = tl.sum(scaled, axis=0) / columns
    tl.store(dx + row * columns + i, (scaled - normal * shared - level) * scale, mask=inside)
    # Rows of a group take turns at its sums.
    group = row % GROUP
    while tl.atomic_cas(lock + group, 0, 1) == 1:
        pass
    partial_w, partial_b = slope * normal, slope
    if tl.load(count + group) == 0:
        tl.store(count + group, 1)
    else:
        partial_w += tl.load(dw + group * columns + i, mask=inside)
        partial_b += tl.load(db + group * columns + i, mask=inside)
    tl.store(dw + group * columns + i, partial_w, mask=inside)
    tl.store(db + group * columns + i, partial_b, mask=inside)
    tl.debug_barrier()
    tl.atomic_xchg(lock + group, 0)


@pytest.mark.usefixtures("thread_count")
@pytest.mark.parametrize("threads", [1, 4])
def test_layer_norm_backward_with_locks(threads: int) -> None:
    torch.set_num_threads(threads)
    rows, columns, groups = 301, 200, 8
    x, dy = values(torch.float32, (rows, columns), 1), values(torch.float32, (rows, columns), 2)
    w, b = values(torch.float32, columns, 3), values(torch.float32, columns, 4)
    wide = [t.double().requires_grad_() for t in (x, w, b)]
    torch.nn.functional.layer_norm(wide[0], (columns,), *wide[1:], 1e-5).backward(dy.double())
    variance, mean = torch.var_mean(x.double(), -1, correction=0)
    dx, dw, db = torch.empty_like(x), *torch.full((2, groups, columns), float("nan"))
    lock, count = torch.zeros(2, groups, dtype=torch.int32)
    norm_backward[(rows,)](
        dx, dy, dw, db, x, w, mean.float(), (variance + 1e-5).rsqrt().float(), lock, count, columns,
        GROUP=groups, BLOCK=256,
    )  # fmt: skip
    assert lock.sum() == 0
    # Terms of about 10 at most; dw and db sum one of them for each row.
    for found, exact in zip((dx, dw.sum(0), db.sum(0)), wide, strict=True):
        assert exact.grad is not None
        assert_near(found, exact.grad, terms=rows, scale=torch.full_like(exact.grad, 10.0))


@triton.jit
def causal_attention(
    q, k, v, out, length, scale, M: tl.constexpr, N: tl.constexpr, DIM: tl.constexpr
):
    start, base = tl.program_id(0), tl.program_id(1) * length * DIM
    rows, inner = start * M + tl.arange(0, M), tl.arange(0, DIM)
    query = tl.load(q + base + rows[:, None] * DIM + inner[None, :])
    peak = tl.full((M,), -float("inf"), tl.float32)
    weight = tl.zeros((M,), tl.float32)
    total = tl.zeros((M, DIM), tl.float32)
    for first in range(0, (start + 1) * M, N):
        keys = first + tl.arange(0, N)
        key = tl.load(k + base + keys[None, :] * DIM + inner[:, None])
        score = tl.dot(query, key) * (scale * 1.44269504)
        score = tl.where(rows[:, None] >= keys[None, :], score, -1.0e6)
        higher = tl.maximum(peak, tl.max(score, 1))
        share = tl.math.exp2(score - higher[:, None])
        fade = tl.math.exp2(peak - higher)
        weight = weight * fade + tl.sum(share, 1)
        value = tl.load(v + base + keys[:, None] * DIM + inner[None, :])
        total = tl.dot(share.to(value.dtype), value, total * fade[:, None])
        peak = higher
    at = out + base + rows[:, None] * DIM + inner[None, :]
    tl.store(at, (total / weight[:, None]).to(out.dtype.element_ty))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
def test_causal_attention(dtype: torch.dtype) -> None:
    heads, length, dim = 3, 128, 64
    q, k, v = (values(dtype, (heads, length, dim), seed) for seed in (1, 2, 3))
    out = torch.empty_like(q)
    causal_attention[(length // 32, heads)](q, k, v, out, length, dim**-0.5, 32, 16, dim)
    wide = (t.double() for t in (q, k, v))
    exact = torch.nn.functional.scaled_dot_product_attention(*wide, is_causal=True)
    # A share is rounded to the operands' type before it meets a value; those are below 5.
    coarse = torch.full_like(exact, 5.0)
    arithmetic = torch.float32 if dtype == torch.float32 else torch.float16
    terms = dim if dtype == torch.float32 else 2
    assert_near(out, exact, terms=terms, scale=coarse, arithmetic=arithmetic)


@triton.jit
def arcsine(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, libdevice.asin(tl.load(x + i, mask=i < n)), mask=i < n)


def test_a_library_function() -> None:
    x = torch.linspace(-1, 1, 9843)
    out = torch.empty_like(x)
    arcsine[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    assert_near(out, torch.asin(x.double()), terms=4)


@triton.jit
def grouped_products(
    a_addresses, b_addresses, c_addresses, sizes, groups, M: tl.constexpr, K: tl.constexpr
):
    tile, last = tl.program_id(0), 0
    for g in range(groups):
        m, n = tl.load(sizes + g * 3), tl.load(sizes + g * 3 + 1)
        k = tl.load(sizes + g * 3 + 2)
        across = tl.cdiv(n, M)
        tiles = tl.cdiv(m, M) * across
        while tile >= last and tile < last + tiles:
            a = tl.load(a_addresses + g).to(tl.pointer_type(tl.float16))
            b = tl.load(b_addresses + g).to(tl.pointer_type(tl.float16))
            c = tl.load(c_addresses + g).to(tl.pointer_type(tl.float16))
            rows = (tile - last) // across * M + tl.arange(0, M)
            columns = (tile - last) % across * M + tl.arange(0, M)
            total = tl.zeros((M, M), tl.float32)
            for first in range(0, k, K):
                inner = first + tl.arange(0, K)
                left = tl.load(
                    a + rows[:, None] * k + inner[None, :],
                    mask=(rows < m)[:, None] & (inner < k)[None, :], other=0.0,
                )  # fmt: skip
                right = tl.load(
                    b + inner[:, None] * n + columns[None, :],
                    mask=(inner < k)[:, None] & (columns < n)[None, :], other=0.0,
                )  # fmt: skip
                total = tl.dot(left, right, total)
            inside = (rows < m)[:, None] & (columns < n)[None, :]
            tl.store(c + rows[:, None] * n + columns[None, :], total.to(tl.float16), mask=inside)
            tile += tl.num_programs(0)
        last += tiles


def test_products_of_a_group_by_addresses_in_memory() -> None:
    sizes = [(70, 40, 33), (16, 100, 64), (5, 5, 5)]
    a = [values(torch.float16, (m, k), 1) for m, _, k in sizes]
    b = [values(torch.float16, (k, n), 2) for _, n, k in sizes]
    c = [torch.empty(m, n, dtype=torch.float16) for m, n, _ in sizes]
    addresses = [torch.tensor([x.data_ptr() for x in group]) for group in (a, b, c)]
    grouped_products[(4,)](
        *addresses, torch.tensor(sizes, dtype=torch.int32), len(sizes), M=32, K=32
    )
    for left, right, found in zip(a, b, c, strict=True):
        scale = left.double().abs() @ right.double().abs()
        exact = left.double() @ right.double()
        terms = left.shape[1]
        assert_near(found, exact, terms=terms, scale=scale, arithmetic=torch.float32)


@triton.jit
def persistent_matmul(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    left = tl.make_tensor_descriptor(a, [m, k], [k, 1], [M, K])
    right = tl.make_tensor_descriptor(b, [n, k], [k, 1], [N, K])
    result = tl.make_tensor_descriptor(c, [m, n], [n, 1], [M, N])
    across = tl.cdiv(n, N)
    for tile in tl.range(
        tl.program_id(0), tl.cdiv(m, M) * across, tl.num_programs(0), flatten=True
    ):
        row, column = tile // across * M, tile % across * N
        total = tl.zeros((M, N), tl.float32)
        for step in range(tl.cdiv(k, K)):
            other = right.load([column, step * K]).T
            total = tl.dot(left.load([row, step * K]), other, total)
        result.store([row, column], total.to(tl.float16))


def test_persistent_matmul_by_descriptors() -> None:
    m, n, k = 136, 72, 104
    a, b = values(torch.float16, (m, k), 1), values(torch.float16, (n, k), 2)
    c = torch.empty(m, n, dtype=torch.float16)
    persistent_matmul[(3,)](a, b, c, m, n, k, M=32, N=32, K=32)
    exact, scale = a.double() @ b.double().T, a.double().abs() @ b.double().abs().T
    assert_near(c, exact, terms=k, scale=scale, arithmetic=torch.float32)
