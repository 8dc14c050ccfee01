# SPDX-License-Identifier: Apache-2.0
"""Element-wise arithmetic of every dtype, with lengths that leave a tail."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl
from hypothesis import strategies as st

from tests.unit.triton_cpu.kernels.examples import given
from tests.unit.triton_cpu.kernels.tensors import FLOATS, INTEGERS, assert_near, values

BLOCK = 64


@triton.jit
def integer_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = index < n
    x = tl.load(x_ptr + index, mask=mask)
    y = tl.load(y_ptr + index, mask=mask)
    tl.store(out_ptr + index, x + y, mask=mask)
    tl.store(out_ptr + n + index, x - y, mask=mask)
    tl.store(out_ptr + 2 * n + index, x * y, mask=mask)
    tl.store(out_ptr + 3 * n + index, x & y, mask=mask)
    tl.store(out_ptr + 4 * n + index, x | y, mask=mask)
    tl.store(out_ptr + 5 * n + index, x ^ y, mask=mask)
    tl.store(out_ptr + 6 * n + index, ~x, mask=mask)
    tl.store(out_ptr + 7 * n + index, tl.maximum(x, y), mask=mask)
    tl.store(out_ptr + 8 * n + index, tl.minimum(x, y), mask=mask)
    tl.store(out_ptr + 9 * n + index, tl.where(x < y, x, y + 1), mask=mask)
    tl.store(out_ptr + 10 * n + index, x << 2, mask=mask)
    tl.store(out_ptr + 11 * n + index, x >> 2, mask=mask)


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
@given(n=st.integers(1, 200), seed=st.integers(0, 99))
def test_integer_arithmetic_wraps_as_in_torch(dtype: torch.dtype, n: int, seed: int) -> None:
    x, y = values(dtype, n, seed), values(dtype, n, seed + 100)
    out = torch.empty(12, n, dtype=dtype)
    integer_kernel[(triton.cdiv(n, BLOCK),)](x, y, out, n, BLOCK)
    expected = [x + y, x - y, x * y, x & y, x | y, x ^ y, ~x]
    expected += [torch.maximum(x, y), torch.minimum(x, y), torch.where(x < y, x, y + 1)]
    expected += [x << 2, x >> 2]
    assert torch.equal(out, torch.stack(expected))


@triton.jit
def division_kernel(x_ptr, y_ptr, quotient_ptr, remainder_ptr, n, BLOCK: tl.constexpr):
    index = tl.arange(0, BLOCK)
    mask = index < n
    x = tl.load(x_ptr + index, mask=mask)
    y = tl.load(y_ptr + index, mask=mask, other=0)
    tl.store(quotient_ptr + index, x // y, mask=mask)
    tl.store(remainder_ptr + index, x % y, mask=mask)


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
@given(n=st.integers(1, BLOCK), seed=st.integers(0, 99))
def test_division_truncates_and_ignores_masked_lanes(dtype: torch.dtype, n: int, seed: int) -> None:
    x, y = values(dtype, n, seed), values(dtype, n, seed + 100)
    y[y == 0] = 1
    if dtype.is_signed:
        # The one quotient that two's complement cannot hold.
        y[(x == torch.iinfo(dtype).min) & (y == -1)] = 1
    quotient, remainder = torch.empty_like(x), torch.empty_like(x)
    division_kernel[(1,)](x, y, quotient, remainder, n, BLOCK)
    assert torch.equal(quotient, torch.div(x, y, rounding_mode="trunc"))
    assert torch.equal(remainder, torch.fmod(x, y))


@triton.jit
def float_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = index < n
    x = tl.load(x_ptr + index, mask=mask)
    y = tl.load(y_ptr + index, mask=mask, other=1)
    tl.store(out_ptr + index, x + y, mask=mask)
    tl.store(out_ptr + n + index, x - y, mask=mask)
    tl.store(out_ptr + 2 * n + index, x * y, mask=mask)
    tl.store(out_ptr + 3 * n + index, x / y, mask=mask)
    tl.store(out_ptr + 4 * n + index, -x, mask=mask)
    tl.store(out_ptr + 5 * n + index, tl.abs(x), mask=mask)
    tl.store(out_ptr + 6 * n + index, tl.where(x > y, x, y), mask=mask)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@given(n=st.integers(1, 200), seed=st.integers(0, 99))
def test_float_arithmetic_is_rounded_once(dtype: torch.dtype, n: int, seed: int) -> None:
    x, y = values(dtype, n, seed), values(dtype, n, seed + 100)
    out = torch.empty(7, n, dtype=dtype)
    float_kernel[(triton.cdiv(n, BLOCK),)](x, y, out, n, BLOCK)
    a, b = x.double(), y.double()
    exact = torch.stack([a + b, a - b, a * b, a / b, -a, a.abs(), torch.where(x > y, a, b)])
    assert_near(out, exact)


@triton.jit
def function_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = index < n
    x = tl.load(x_ptr + index, mask=mask)
    tl.store(out_ptr + index, tl.exp(x), mask=mask)
    tl.store(out_ptr + n + index, tl.exp2(x), mask=mask)
    tl.store(out_ptr + 2 * n + index, tl.log(tl.abs(x)), mask=mask)
    tl.store(out_ptr + 3 * n + index, tl.log2(tl.abs(x)), mask=mask)
    tl.store(out_ptr + 4 * n + index, tl.sin(x), mask=mask)
    tl.store(out_ptr + 5 * n + index, tl.cos(x), mask=mask)
    tl.store(out_ptr + 6 * n + index, tl.sqrt(tl.abs(x)), mask=mask)
    tl.store(out_ptr + 7 * n + index, tl.rsqrt(tl.abs(x)), mask=mask)
    tl.store(out_ptr + 8 * n + index, tl.erf(x), mask=mask)
    tl.store(out_ptr + 9 * n + index, tl.floor(x), mask=mask)
    tl.store(out_ptr + 10 * n + index, tl.ceil(x), mask=mask)
    tl.store(out_ptr + 11 * n + index, tl.sigmoid(x), mask=mask)
    tl.store(out_ptr + 12 * n + index, tl.fma(x, x, x), mask=mask)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@given(n=st.integers(1, 200), seed=st.integers(0, 99))
def test_functions(dtype: torch.dtype, n: int, seed: int) -> None:
    x = values(dtype, n, seed) * 4
    out = torch.empty(13, n, dtype=dtype)
    function_kernel[(triton.cdiv(n, BLOCK),)](x, out, n, BLOCK)
    a = x.double()
    exact = [a.exp(), a.exp2(), a.abs().log(), a.abs().log2(), a.sin(), a.cos(), a.abs().sqrt()]
    exact += [a.abs().rsqrt(), a.erf(), a.floor(), a.ceil(), a.sigmoid(), a * a + a]
    # A few units in the last place each; a logarithm near 1 and a sine near a multiple of pi lose
    # no more, since their arguments are exact.
    scale = torch.stack(exact).abs()
    scale[12] += (a * a).abs()
    assert_near(out, torch.stack(exact), terms=7, scale=scale)


@triton.jit
def float_special_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    index = tl.arange(0, BLOCK)
    mask = index < n
    x = tl.load(x_ptr + index, mask=mask)
    y = tl.load(y_ptr + index, mask=mask)
    all_nan: tl.constexpr = tl.PropagateNan.ALL
    tl.store(out_ptr + index, tl.maximum(x, y), mask=mask)
    tl.store(out_ptr + n + index, tl.minimum(x, y), mask=mask)
    tl.store(out_ptr + 2 * n + index, tl.maximum(x, y, propagate_nan=all_nan), mask=mask)
    tl.store(out_ptr + 3 * n + index, tl.minimum(x, y, propagate_nan=all_nan), mask=mask)
    tl.store(out_ptr + 4 * n + index, (x != y).to(x.dtype), mask=mask)
    tl.store(out_ptr + 5 * n + index, (x <= y).to(x.dtype), mask=mask)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_nan_and_infinity_in_comparisons(dtype: torch.dtype) -> None:
    special = torch.tensor([float("nan"), float("inf"), -float("inf"), 0.0, 1.5, -2.0], dtype=dtype)
    x, y = (grid.flatten().contiguous() for grid in torch.meshgrid(special, special, indexing="ij"))
    n = x.numel()
    out = torch.empty(6, n, dtype=dtype)
    float_special_kernel[(1,)](x, y, out, n, 64)
    expected = [torch.fmax(x, y), torch.fmin(x, y), torch.maximum(x, y), torch.minimum(x, y)]
    expected += [(x != y).to(dtype), (x <= y).to(dtype)]
    assert torch.equal(out.nan_to_num(nan=7.0), torch.stack(expected).nan_to_num(nan=7.0))


@triton.jit
def unsigned_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    index = tl.arange(0, BLOCK)
    mask = index < n
    x = tl.load(x_ptr + index, mask=mask).to(tl.uint32, bitcast=True)
    y = tl.load(y_ptr + index, mask=mask, other=1).to(tl.uint32, bitcast=True)
    tl.store(out_ptr + index, (x // y).to(tl.int64), mask=mask)
    tl.store(out_ptr + n + index, (x % y).to(tl.int64), mask=mask)
    tl.store(out_ptr + 2 * n + index, (x >> 3).to(tl.int64), mask=mask)
    tl.store(out_ptr + 3 * n + index, (x < y).to(tl.int64), mask=mask)
    tl.store(out_ptr + 4 * n + index, tl.umulhi(x, y).to(tl.int64), mask=mask)
    tl.store(out_ptr + 5 * n + index, x.to(tl.float64).to(tl.int64), mask=mask)


@given(n=st.integers(1, BLOCK), seed=st.integers(0, 99))
def test_unsigned_arithmetic(n: int, seed: int) -> None:
    x, y = values(torch.int32, n, seed), values(torch.int32, n, seed + 100)
    y[y == 0] = 1
    out = torch.empty(6, n, dtype=torch.int64)
    unsigned_kernel[(1,)](x, y, out, n, BLOCK)
    a, b = x.numpy().view("uint32").astype("uint64"), y.numpy().view("uint32").astype("uint64")
    expected = [a // b, a % b, a >> 3, a < b, (a * b) >> 32, a]
    for row, wanted in zip(out.numpy(), expected, strict=True):
        assert row.tolist() == wanted.astype("int64").tolist()
