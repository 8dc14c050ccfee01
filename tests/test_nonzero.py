# SPDX-License-Identifier: Apache-2.0
"""Accuracy of nonzero, and of nonzero_static, which is told how many there may be."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import flag_gems
from flag_gems.testing import assert_equal, options, samples, to_reference
from flag_gems.testing.drawing import drawn, shapes
from flag_gems.testing.operands import FLOATING, INTEGRAL, values

pytestmark = pytest.mark.nonzero
DTYPES = [*FLOATING, torch.float64, *INTEGRAL, torch.int8, torch.bool]
SHAPES = [(37,), (7, 130)] if options.quick else [(37,), (7, 130), (3, 5, 33), (200_021,)]


def sparse(shape, dtype):
    """Values of which every other one is zero."""
    x = values(shape, torch.float32)
    return torch.where(x > 0, x.abs() + 1, 0).to(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_nonzero(dtype):
    for shape in SHAPES:
        x = sparse(shape, dtype)
        assert_equal(flag_gems.nonzero(x), torch.nonzero(to_reference(x)))


@drawn
@given(shape=st.lists(st.integers(1, 4), max_size=7).map(tuple), data=st.data())
def test_ranks_and_strides(shape, data):
    order = data.draw(st.permutations(range(len(shape))))
    x = sparse(shape, torch.float32).permute(order)
    assert_equal(flag_gems.nonzero(x), torch.nonzero(to_reference(x)))
    size = data.draw(st.integers(0, x.numel() + 3))
    wanted = torch.nonzero_static(x.cpu(), size=size, fill_value=-7)
    assert_equal(flag_gems.nonzero_static(x, size=size, fill_value=-7), wanted)


@drawn
@given(shape=shapes)
def test_as_a_tuple(shape):
    x = sparse(shape, torch.int32)
    res = flag_gems.nonzero(x, as_tuple=True)
    ref = torch.nonzero(to_reference(x), as_tuple=True)
    assert len(res) == len(ref)
    for one, other in zip(res, ref, strict=True):
        assert_equal(one, other)


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (0, 3)])
@pytest.mark.parametrize("value", [0.0, 1.0])
def test_little_or_nothing(shape, value):
    x = torch.full(shape, value, device=flag_gems.device)
    assert_equal(flag_gems.nonzero(x), torch.nonzero(to_reference(x)))


def test_all_none_nan_and_minus_zero():
    for x in (torch.ones(5000), torch.zeros(5000), torch.tensor([-0.0, float("nan"), 0.0])):
        assert_equal(flag_gems.nonzero(x.to(flag_gems.device)), torch.nonzero(x))


def test_out():
    x = sparse((7, 130), torch.float32)
    out = torch.empty(0, dtype=torch.int64, device=flag_gems.device)
    with flag_gems.use_gems(include=["nonzero"]):
        assert torch.nonzero(x, out=out) is out
    assert_equal(out, torch.nonzero(to_reference(x)))


def test_through_torch():
    x = sparse((7, 130), torch.float32)
    with flag_gems.use_gems(include=["nonzero"]):
        res = torch.nonzero(x)
        chosen = x[x > 1.5]
    assert_equal(res, torch.nonzero(to_reference(x)))
    assert_equal(chosen, to_reference(x)[to_reference(x) > 1.5])


def test_out_of_another_dtype_is_refused():
    with pytest.raises(RuntimeError):
        flag_gems.nonzero(values((3,), torch.float32), out=torch.empty(0, device=flag_gems.device))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bool])
def test_torchs_own_samples(dtype):
    samples.check("nonzero", dtype, ["nonzero"])
