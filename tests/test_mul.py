# SPDX-License-Identifier: Apache-2.0
"""Accuracy of mul, called directly and through torch."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import mutually_broadcastable_shapes

import flag_gems
from flag_gems.testing import assert_close, assert_equal, options, samples, to_reference
from flag_gems.testing.drawing import drawn
from flag_gems.testing.operands import FLOATING, INTEGRAL, values

pytestmark = pytest.mark.mul

SHAPES = [(7, 33)] if options.quick else [(7, 33), (1,), (), (0, 3), (20_011,)]


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("shape", SHAPES)
def test_mul(shape, dtype):
    x, y = values(shape, dtype), values((*shape, 2), dtype)[..., 1]
    ref = to_reference(x, upcast=True) * to_reference(y, upcast=True)
    assert_close(flag_gems.mul(x, y), ref, dtype)


@pytest.mark.parametrize("left", [*INTEGRAL, torch.bool])
@pytest.mark.parametrize("right", [torch.int32, torch.uint8, torch.bool])
def test_mul_of_integers(left, right):
    x, y = values((5, 17), left), values((17,), right)
    assert_equal(flag_gems.mul(x, y), to_reference(x) * to_reference(y))


@drawn
@given(mutually_broadcastable_shapes(num_shapes=2, max_dims=5, max_side=5), st.data())
def test_mul_broadcasts(drawn_shapes, data):
    left, right = drawn_shapes.input_shapes
    order = data.draw(st.permutations(range(len(left))))
    x = values(tuple(left[dim] for dim in order), torch.float32)
    x = x.permute([order.index(dim) for dim in range(len(left))])
    y = values(right, torch.float32)
    ref = to_reference(x, upcast=True) * to_reference(y, upcast=True)
    assert_close(flag_gems.mul(x, y), ref, torch.float32)


@pytest.mark.parametrize("number", [True, 3, -2.5])
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.int32, torch.bool])
def test_mul_of_a_number_promotes_as_torch_does(dtype, number):
    x = values((9,), dtype)
    ref = to_reference(x) * number
    assert_close(flag_gems.mul(x, number), ref, ref.dtype)


def test_mul_through_torch():
    x = values((6, 40), torch.float32)
    ref = to_reference(x, upcast=True)
    with flag_gems.use_gems(include=["mul"]) as gems:
        res = x * 2.5
        x *= x
    assert gems.calls == {"mul.Tensor": 1, "mul_.Tensor": 1}
    assert_close(res, ref * 2.5, x.dtype)
    assert_close(x, ref * ref, x.dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int64, torch.bool])
def test_mul_on_torchs_samples(dtype):
    samples.check("mul", dtype, ["mul"])
