# SPDX-License-Identifier: Apache-2.0
"""Accuracy of sort: values and places, which are one answer only because sorts are stable."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import flag_gems
from flag_gems.testing import assert_equal, options, samples, to_reference
from flag_gems.testing.drawing import drawn, shapes
from flag_gems.testing.operands import FLOATING, INTEGRAL, values

pytestmark = pytest.mark.sort
DTYPES = [*FLOATING, torch.float64, *INTEGRAL, torch.int8, torch.int16, torch.bool]
ROWS = [(3, 77)] if options.quick else [(3, 77), (2, 2048), (2, 5003)]


def assert_sorted(result, reference):
    assert_equal(result.values, reference.values, equal_nan=True)
    assert_equal(result.indices, reference.indices)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("descending", [False, True])
def test_sort(dtype, descending):
    for shape in ROWS:
        x = values(shape, dtype)
        reference = torch.sort(to_reference(x), stable=True, descending=descending)
        assert_sorted(flag_gems.sort(x, -1, descending), reference)


@drawn
@given(shape=shapes, data=st.data())
def test_dims_and_strides(shape, data):
    order = data.draw(st.permutations(range(len(shape))))
    x = values(shape, torch.float32).permute(order)
    dim = data.draw(st.integers(-max(len(shape), 1), max(len(shape), 1) - 1))
    assert_sorted(flag_gems.sort(x, dim), torch.sort(to_reference(x), dim=dim, stable=True))


@pytest.mark.parametrize("descending", [False, True])
def test_equals_keep_their_order(descending):
    x = values((4, 3000), torch.int64).remainder(3)
    reference = torch.sort(to_reference(x), stable=True, descending=descending)
    assert_sorted(flag_gems.sort(x, descending=descending), reference)
    assert_equal(flag_gems.argsort(x, descending=descending), reference.indices)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("descending", [False, True])
def test_nan_infinities_and_zeros(dtype, descending):
    inf, nan = float("inf"), float("nan")
    x = torch.tensor([0.0, nan, -0.0, inf, -nan, 1.0, -inf, -1.0, 0.0, nan], dtype=dtype)
    x = x.repeat(60).to(flag_gems.device)
    reference = torch.sort(x.cpu(), stable=True, descending=descending)
    result = flag_gems.sort(x, descending=descending)
    assert_equal(result.indices, reference.indices)
    assert_equal(result.values, reference.values, equal_nan=True)
    assert_equal(result.values.signbit(), x[result.indices].signbit())


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int32, torch.int64])
def test_integer_extremes(dtype):
    bounds = torch.iinfo(dtype)
    x = torch.tensor([0, bounds.max, bounds.min, 1, bounds.max, bounds.min], dtype=dtype)
    for descending in (False, True):
        result = flag_gems.sort(x.to(flag_gems.device), descending=descending)
        assert_sorted(result, torch.sort(x, stable=True, descending=descending))


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (0, 3), (1,)])
def test_little_or_nothing(shape):
    x = values(shape, torch.float32)
    assert_sorted(flag_gems.sort(x), torch.sort(to_reference(x)))


def test_out():
    x = values((5, 40), torch.float32)
    kept = torch.empty(0, device=flag_gems.device)
    places = torch.empty(0, dtype=torch.int64, device=flag_gems.device)
    with flag_gems.use_gems(include=["sort"]):
        result = torch.sort(x, dim=0, stable=True, out=(kept, places))
    assert result[0] is kept
    reference = torch.sort(to_reference(x), dim=0, stable=True)
    assert_equal(kept, reference.values)
    assert_equal(places, reference.indices)


def test_through_torch_and_its_gradient():
    x = values((6, 50), torch.float32).requires_grad_()
    with flag_gems.use_gems(include=["sort"]):
        result = torch.sort(x, descending=True)
        result.values[:, :3].sum().backward()
    wide = to_reference(x, upcast=True).detach().requires_grad_()
    torch.sort(wide, descending=True).values[:, :3].sum().backward()
    assert_equal(x.grad, wide.grad.float())


@pytest.mark.parametrize("dim", [2, -3])
def test_a_dim_that_is_not_there(dim):
    with pytest.raises(IndexError, match="Dimension out of range"):
        flag_gems.sort(values((3, 4), torch.float32), dim)


def test_complex_is_refused():
    with pytest.raises(RuntimeError):
        flag_gems.sort(torch.zeros(3, dtype=torch.complex64, device=flag_gems.device))


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64])
def test_torchs_own_samples(dtype):
    samples.check("sort", dtype, ["sort"])
