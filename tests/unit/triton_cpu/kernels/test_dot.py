# SPDX-License-Identifier: Apache-2.0
"""Matrix products of every operand type, shape and orientation."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl
from hypothesis import strategies as st

from tests.unit.triton_cpu.kernels.examples import given
from tests.unit.triton_cpu.kernels.tensors import assert_near, values


@triton.jit
def dot_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    a_row,
    a_col,
    b_row,
    b_col,
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
    OUT: tl.constexpr,
):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a = tl.load(a_ptr + m[:, None] * a_row + k[None, :] * a_col)
    b = tl.load(b_ptr + k[:, None] * b_row + n[None, :] * b_col)
    c = tl.dot(a, b, out_dtype=OUT, input_precision="ieee")
    tl.store(c_ptr + m[:, None] * N + n[None, :], c)


@pytest.mark.parametrize("transposed", [(False, False), (True, False), (False, True)])
@pytest.mark.parametrize(
    "dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str
)
def test_float_products(dtype: torch.dtype, transposed: tuple[bool, bool]) -> None:
    m, n, k = 32, 16, 64
    a = values(dtype, (k, m), 1).T if transposed[0] else values(dtype, (m, k), 1)
    b = values(dtype, (n, k), 2).T if transposed[1] else values(dtype, (k, n), 2)
    wide = torch.float64 if dtype == torch.float64 else torch.float32
    c = torch.empty(m, n, dtype=wide)
    out = tl.float64 if dtype == torch.float64 else tl.float32
    dot_kernel[(1,)](a, b, c, *a.stride(), *b.stride(), m, n, k, out)
    exact = a.double() @ b.double()
    assert_near(c, exact, terms=k, scale=a.double().abs() @ b.double().abs())


@pytest.mark.parametrize(
    ("m", "n", "k"), [(16, 16, 16), (128, 32, 16), (16, 128, 32), (64, 64, 128)]
)
def test_shapes(m: int, n: int, k: int) -> None:
    a, b = values(torch.float32, (m, k), 1), values(torch.float32, (k, n), 2)
    c = torch.empty(m, n)
    dot_kernel[(1,)](a, b, c, *a.stride(), *b.stride(), m, n, k, tl.float32)
    scale = a.double().abs() @ b.double().abs()
    assert_near(c, a.double() @ b.double(), terms=k, scale=scale)


def test_integer_product_is_exact() -> None:
    a, b = values(torch.int8, (32, 64), 1), values(torch.int8, (64, 32), 2)
    c = torch.empty(32, 32, dtype=torch.int32)
    dot_kernel[(1,)](a, b, c, *a.stride(), *b.stride(), 32, 32, 64, tl.int32)
    assert torch.equal(c, (a.long() @ b.long()).int())


def test_half_precision_accumulator() -> None:
    a, b = values(torch.float16, (32, 32), 1), values(torch.float16, (32, 32), 2)
    c = torch.empty(32, 32, dtype=torch.float16)
    dot_kernel[(1,)](a, b, c, *a.stride(), *b.stride(), 32, 32, 32, tl.float16)
    scale = a.double().abs() @ b.double().abs()
    assert_near(c, a.double() @ b.double(), terms=32, scale=scale)


@triton.jit
def matmul_kernel(a_ptr, b_ptr, c_ptr, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    cols = tl.program_id(1) * N + tl.arange(0, N)
    inner = tl.arange(0, K)
    total = tl.zeros((M, N), tl.float32)
    for start in range(0, k, K):
        at = start + inner
        a = tl.load(
            a_ptr + rows[:, None] * k + at[None, :],
            mask=(rows < m)[:, None] & (at < k)[None, :],
            other=0.0,
        )
        b = tl.load(
            b_ptr + at[:, None] * n + cols[None, :],
            mask=(at < k)[:, None] & (cols < n)[None, :],
            other=0.0,
        )
        total = tl.dot(a, b, total, input_precision="ieee")
    out = tl.maximum(total, 0.0).to(c_ptr.dtype.element_ty)
    mask = (rows < m)[:, None] & (cols < n)[None, :]
    tl.store(c_ptr + rows[:, None] * n + cols[None, :], out, mask=mask)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
@given(m=st.integers(1, 70), n=st.integers(1, 70), k=st.integers(1, 100))
def test_tiled_product_with_tails_and_epilogue(dtype: torch.dtype, m: int, n: int, k: int) -> None:
    a, b = values(dtype, (m, k), 1), values(dtype, (k, n), 2)
    c = torch.empty(m, n, dtype=dtype)
    matmul_kernel[(triton.cdiv(m, 32), triton.cdiv(n, 32))](a, b, c, m, n, k, 32, 32, 16)
    exact = (a.double() @ b.double()).clamp(min=0)
    scale = a.double().abs() @ b.double().abs()
    assert_near(c, exact, terms=k, scale=scale, arithmetic=torch.float32)


@triton.jit
def batched_kernel(
    a_ptr, b_ptr, c_ptr, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr
):
    z = tl.arange(0, B)[:, None, None]
    m, n = tl.arange(0, M), tl.arange(0, N)
    k = tl.arange(0, K)
    a = tl.load(a_ptr + z * M * K + m[None, :, None] * K + k[None, None, :])
    b = tl.load(b_ptr + z * K * N + k[None, :, None] * N + n[None, None, :])
    c = tl.dot(a, b, input_precision="ieee")
    tl.store(c_ptr + z * M * N + m[None, :, None] * N + n[None, None, :], c)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_batched_product(dtype: torch.dtype) -> None:
    a, b = values(dtype, (4, 16, 32), 1), values(dtype, (4, 32, 16), 2)
    c = torch.empty(4, 16, 16)
    batched_kernel[(1,)](a, b, c, 4, 16, 16, 32)
    scale = a.double().abs() @ b.double().abs()
    assert_near(c, a.double() @ b.double(), terms=32, scale=scale)


@triton.jit
def chained_kernel(q_ptr, k_ptr, v_ptr, out_ptr, S: tl.constexpr, D: tl.constexpr):
    s, d = tl.arange(0, S), tl.arange(0, D)
    place = s[:, None] * D + d[None, :]
    q, k, v = tl.load(q_ptr + place), tl.load(k_ptr + place), tl.load(v_ptr + place)
    score = tl.dot(q, tl.trans(k), input_precision="ieee")
    score = tl.where(s[:, None] >= s[None, :], score, float("-inf"))
    weight = tl.exp(score - tl.max(score, axis=1)[:, None])
    weight = weight / tl.sum(weight, axis=1)[:, None]
    tl.store(out_ptr + place, tl.dot(weight, v, input_precision="ieee"))


def test_attention_chains_two_products() -> None:
    q, k, v = (values(torch.float32, (32, 16), seed) for seed in (1, 2, 3))
    out = torch.empty(32, 16)
    chained_kernel[(1,)](q, k, v, out, 32, 16)
    score = q.double() @ k.double().T
    score = score.masked_fill(torch.ones(32, 32).tril() == 0, -torch.inf)
    exact = score.softmax(1) @ v.double()
    # A score's rounding error, of up to 16 products, multiplies its weight.
    error = 16 * (q.double().abs() @ k.double().abs().T).amax()
    assert_near(out, exact, terms=int(error) + 64, scale=score.softmax(1) @ v.double().abs())
