# SPDX-License-Identifier: Apache-2.0
"""Accuracy of sum, mean and prod, called directly and through torch."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import flag_gems
from flag_gems.testing import assert_close, assert_equal, options, samples, to_reference
from flag_gems.testing.drawing import drawn, shapes
from flag_gems.testing.operands import FLOATING, INTEGRAL, values

pytestmark = pytest.mark.sum

SHAPES = [(300,), (7, 130)] if options.quick else [(300,), (7, 130), (3, 5, 33), (100_003,)]


@pytest.mark.sum
@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("shape", SHAPES)
def test_sum_of_all(shape, dtype):
    x = values(shape, dtype)
    ref = to_reference(x, upcast=True).sum()
    assert_close(flag_gems.sum(x), ref, dtype, reduce_dim=x.numel())


@pytest.mark.sum
@pytest.mark.parametrize("dtype", [*INTEGRAL, torch.bool])
def test_sum_counts_integers_in_int64(dtype):
    x = values((7, 130), dtype)
    assert_equal(flag_gems.sum(x), to_reference(x).to(torch.int64).sum())


@pytest.mark.sum
@drawn
@given(shape=shapes.filter(bool), data=st.data())
def test_sum_along_dims_of_permuted_input(shape, data):
    order = data.draw(st.permutations(range(len(shape))))
    dims = data.draw(st.lists(st.integers(0, len(shape) - 1), unique=True, max_size=len(shape)))
    keepdim = data.draw(st.booleans())
    x = values(shape, torch.float32).permute(order)
    ref = to_reference(x, upcast=True).sum(dims, keepdim=keepdim)
    res = flag_gems.sum(x, dims, keepdim)
    assert_close(res, ref, torch.float32, reduce_dim=max(math.prod(shape), 1))


@pytest.mark.sum
@pytest.mark.parametrize(("shape", "dim"), [((0,), None), ((0, 3), 0), ((3, 0), 0), ((), None)])
def test_sum_of_few_elements(shape, dim):
    x = values(shape, torch.float32)
    wide = to_reference(x, upcast=True)
    ref = wide.sum() if dim is None else wide.sum(dim)
    assert_close(flag_gems.sum(x, dim) if dim is not None else flag_gems.sum(x), ref, x.dtype)


@pytest.mark.sum
def test_sum_to_another_dtype():
    x = values((50,), torch.float16)
    ref = to_reference(x, upcast=True).sum()
    assert_close(flag_gems.sum(x, dtype=torch.float32), ref, torch.float32, reduce_dim=50)


@pytest.mark.sum
def test_sum_of_halves_does_not_stop_growing():
    # Summed in float16, ones stop at 2048, where the next number is 2050.
    x = torch.ones(4096, dtype=torch.float16, device=flag_gems.device)
    assert flag_gems.sum(x).item() == 4096


@pytest.mark.sum
def test_sum_through_torch():
    x = values((6, 40), torch.float32)
    with flag_gems.use_gems(include=["sum"]) as gems:
        total, rows = x.sum(), x.sum(1, keepdim=True)
    assert gems.calls == {"sum": 1, "sum.dim_IntList": 1}
    assert_close(total, to_reference(x, True).sum(), x.dtype, reduce_dim=240)
    assert_close(rows, to_reference(x, True).sum(1, keepdim=True), x.dtype, reduce_dim=40)


@pytest.mark.sum
def test_sum_out():
    x = values((6, 40), torch.float32)
    ref = to_reference(x, upcast=True).sum(1)
    spread = torch.empty(12, dtype=torch.float64, device=x.device)[::2]
    assert flag_gems.sum_out(x, 1, out=spread) is spread
    assert_close(spread, ref, torch.float64, reduce_dim=40)


@pytest.mark.mean
@pytest.mark.parametrize("dtype", [*FLOATING, torch.float64])
@pytest.mark.parametrize("shape", SHAPES)
def test_mean(shape, dtype):
    x = values(shape, dtype)
    wide = to_reference(x, upcast=True)
    assert_close(flag_gems.mean(x), wide.mean(), dtype)
    assert_close(flag_gems.mean(x, -1, True), wide.mean(-1, True), dtype)


@pytest.mark.mean
def test_mean_of_nothing_and_of_integers():
    x = values((0, 3), torch.float32)
    assert flag_gems.mean(x).isnan()
    assert flag_gems.mean(x, 0).isnan().all()
    assert_close(
        flag_gems.mean(values((9,), torch.int32), dtype=torch.float32),
        values((9,), torch.int32).double().mean(),
        torch.float32,
    )
    with pytest.raises(RuntimeError):
        flag_gems.mean(values((9,), torch.int32))


@pytest.mark.prod
@pytest.mark.parametrize("dtype", [*FLOATING, torch.int32, torch.bool])
def test_prod(dtype):
    x = values((5, 6), dtype)
    ref = torch.prod(to_reference(x, upcast=True))
    assert_close(flag_gems.prod(x), ref, ref.dtype if ref.dtype is torch.int64 else dtype)
    rows = torch.prod(to_reference(x, upcast=True), 1, keepdim=True)
    res = flag_gems.prod(x, 1, True)
    assert_close(res, rows, rows.dtype if rows.dtype is torch.int64 else dtype)
    assert flag_gems.prod(x[:0]).item() == 1


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=getattr(pytest.mark, name)) for name in ("sum", "mean")]
)
def test_on_torchs_samples(name):
    samples.check(name, torch.float32, [name], reduce_dim=125)
