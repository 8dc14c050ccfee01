# SPDX-License-Identifier: Apache-2.0
"""Accuracy of topk. torch promises no order among equals; these kernels take the first ones."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import flag_gems
from flag_gems.testing import assert_equal, options, samples, to_reference
from flag_gems.testing.drawing import drawn, shapes
from flag_gems.testing.operands import FLOATING, INTEGRAL, values

pytestmark = pytest.mark.topk
DTYPES = [*FLOATING, torch.float64, *INTEGRAL, torch.int8, torch.int16]
ROWS = [(3, 77)] if options.quick else [(3, 77), (2, 2048), (2, 9001)]


def assert_chosen(result, x, k, dim=-1, largest=True, sorted=True):
    """Values are those of torch's sort, and each is where its place says."""
    ordered = torch.sort(to_reference(x), dim=dim, descending=largest, stable=True).values
    wanted = ordered.narrow(dim, 0, k) if x.dim() else ordered
    assert_equal(x.gather(dim, result.indices), result.values, equal_nan=True)
    held = result.values if sorted else result.values.sort(dim, descending=largest).values
    assert_equal(held, wanted, equal_nan=True)
    places = result.indices.sort(dim).values
    assert not (places.diff(dim=dim) == 0).any()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("largest", [True, False])
def test_topk(dtype, largest):
    for shape in ROWS:
        x = values(shape, dtype)
        for k in (1, 5, shape[-1] // 2, shape[-1]):
            assert_chosen(flag_gems.topk(x, k, -1, largest), x, k, largest=largest)


@drawn
@given(shape=shapes.filter(bool), data=st.data())
def test_dims_strides_and_order(shape, data):
    order = data.draw(st.permutations(range(len(shape))))
    x = values(shape, torch.float32).permute(order)
    dim = data.draw(st.integers(-len(shape), len(shape) - 1))
    k = data.draw(st.integers(1, x.shape[dim]))
    largest, sorted = data.draw(st.booleans()), data.draw(st.booleans())
    assert_chosen(flag_gems.topk(x, k, dim, largest, sorted), x, k, dim, largest, sorted)


def test_the_first_of_equals_are_taken():
    x = values((4, 3000), torch.int64).remainder(3)
    for largest in (True, False):
        reference = torch.sort(to_reference(x), stable=True, descending=largest)
        assert_equal(flag_gems.topk(x, 1500, largest=largest).indices, reference.indices[:, :1500])


def test_nan_is_the_largest():
    inf, nan = float("inf"), float("nan")
    x = torch.tensor([0.0, nan, -inf, inf, -nan, 1.0], device=flag_gems.device)
    for k in (1, 2, 3, 6):
        for largest in (True, False):
            assert_chosen(flag_gems.topk(x, k, largest=largest), x, k, largest=largest)


@pytest.mark.parametrize(("shape", "k"), [((), 1), ((4,), 0), ((0,), 0), ((3, 0), 0), ((0, 3), 2)])
def test_little_or_nothing(shape, k):
    x = values(shape, torch.float32)
    result, reference = flag_gems.topk(x, k), torch.topk(to_reference(x), k)
    assert_equal(result.values, reference.values)
    assert_equal(result.indices, reference.indices)


def test_out():
    x = values((5, 40), torch.float32)
    kept = torch.empty(0, device=flag_gems.device)
    places = torch.empty(0, dtype=torch.int64, device=flag_gems.device)
    with flag_gems.use_gems(include=["topk"]):
        torch.topk(x, 3, dim=0, out=(kept, places))
    assert_equal(kept, torch.topk(to_reference(x), 3, dim=0).values)
    assert_equal(x.gather(0, places), kept)


def test_through_torch_and_its_gradient():
    x = values((6, 50), torch.float32).requires_grad_()
    with flag_gems.use_gems(include=["topk"]):
        torch.topk(x, 3).values.sum().backward()
    wide = to_reference(x, upcast=True).detach().requires_grad_()
    torch.topk(wide, 3).values.sum().backward()
    assert_equal(x.grad, wide.grad.float())


@pytest.mark.parametrize("k", [-1, 5])
def test_k_out_of_range(k):
    with pytest.raises(RuntimeError, match="out of range"):
        flag_gems.topk(values((3, 4), torch.float32), k)


def test_torchs_own_samples():
    # Of integers many are equal, and which of them torch takes is its own affair.
    samples.check("topk", torch.float32, ["topk"])
