# SPDX-License-Identifier: Apache-2.0
"""Accuracy of add and sub, called directly and through torch."""

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

pytestmark = pytest.mark.add

SHAPES = [(7, 33)] if options.quick else [(7, 33), (1,), (), (0, 3), (20_011,)]


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("shape", SHAPES)
def test_add(shape, dtype):
    x, y = values(shape, dtype), values((*shape, 2), dtype)[..., 1]
    ref = to_reference(x, upcast=True) + to_reference(y, upcast=True)
    assert_close(flag_gems.add(x, y), ref, dtype)


@pytest.mark.parametrize("left", [*INTEGRAL, torch.bool])
@pytest.mark.parametrize("right", [torch.int32, torch.uint8, torch.bool])
def test_add_of_integers(left, right):
    x, y = values((5, 17), left), values((17,), right)
    assert_equal(flag_gems.add(x, y), to_reference(x) + to_reference(y))


@drawn
@given(mutually_broadcastable_shapes(num_shapes=2, max_dims=5, max_side=5), st.data())
def test_add_broadcasts(drawn_shapes, data):
    left, right = drawn_shapes.input_shapes
    order = data.draw(st.permutations(range(len(left))))
    x = values(tuple(left[dim] for dim in order), torch.float32)
    x = x.permute([order.index(dim) for dim in range(len(left))])
    y = values(right, torch.float32)
    ref = to_reference(x, upcast=True) + to_reference(y, upcast=True)
    assert_close(flag_gems.add(x, y), ref, torch.float32)


@pytest.mark.parametrize("number", [True, 3, -2.5])
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.int32, torch.bool])
def test_add_of_a_number_promotes_as_torch_does(dtype, number):
    x = values((9,), dtype)
    ref = to_reference(x) + number
    assert_close(flag_gems.add(x, number), ref, ref.dtype)


def test_add_through_torch():
    x = values((6, 40), torch.float32)
    ref = to_reference(x, upcast=True)
    with flag_gems.use_gems(include=["add"]) as gems:
        res = x + 2.5
        x += x
    assert gems.calls == {"add.Tensor": 1, "add_.Tensor": 1}
    assert_close(res, ref + 2.5, x.dtype)
    assert_close(x, ref + ref, x.dtype)


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("alpha", [2, -0.3])
def test_add_scales_the_second_operand(alpha, dtype):
    x, y = values((7, 33), dtype), values((33,), dtype)
    ref = torch.add(to_reference(x, upcast=True), to_reference(y, upcast=True), alpha=alpha)
    assert_close(flag_gems.add(x, y, alpha=alpha), ref, dtype)


@pytest.mark.sub
@pytest.mark.parametrize("dtype", [*FLOATING, *INTEGRAL])
def test_sub(dtype):
    x, y = values((7, 33), dtype), values((33,), dtype)
    left, right = to_reference(x, upcast=True), to_reference(y, upcast=True)
    assert_close(flag_gems.sub(x, y, alpha=2), torch.sub(left, right, alpha=2), dtype)
    assert_close(flag_gems.rsub(x, y, 3), torch.rsub(left, right, alpha=3), dtype)
    assert_close(flag_gems.sub(1, x), (1 - left).to(dtype), dtype)


def test_out_is_resized_converted_and_may_be_strided():
    x, y = values((6, 5), torch.float32), values((5,), torch.float32)
    ref = to_reference(x, upcast=True) + to_reference(y, upcast=True)
    out = torch.empty(0, device=x.device)
    assert flag_gems.add_out(x, y, out=out) is out
    assert_close(out, ref, x.dtype)
    wide = torch.zeros(6, 10, dtype=torch.float64, device=x.device)[:, ::2]
    assert_close(flag_gems.add_out(x, y, out=wide), ref, torch.float64, atol=1e-6)
    assert_close(flag_gems.add_(x, y), ref, x.dtype)


def test_what_torch_refuses_is_its_error():
    x = values((6, 5), torch.float32)
    for call in (
        lambda: flag_gems.add_out(x, x, out=torch.empty(6, 5, dtype=torch.int32, device=x.device)),
        lambda: flag_gems.add_(x[:1].expand(6, 5), x),
        lambda: flag_gems.add_(x.flatten()[1:], x.flatten()[:-1]),
        lambda: flag_gems.sub(x > 0, x > 0),
        lambda: flag_gems.add(x, x[:4]),
    ):
        with pytest.raises(RuntimeError):
            call()


def test_a_number_beyond_single_precision_is_infinite():
    x = values((4,), torch.float32)
    assert_equal(flag_gems.add(x, 1e300), to_reference(x) + 1e300)
    assert_equal(flag_gems.add(x.double(), 1e300), to_reference(x).double() + 1e300)


def test_a_number_of_double_precision_is_exact():
    x = torch.zeros(4, dtype=torch.float64, device=flag_gems.device)
    assert flag_gems.add(x, 0.1).tolist() == [0.1] * 4
    assert flag_gems.add(x.long(), 2**62 + 1).tolist() == [2**62 + 1] * 4


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64])
def test_add_on_torchs_samples(dtype):
    references = dtype is torch.float32 and not options.quick
    samples.check("add", dtype, ["add"], references=references, skip=_complex)


def _complex(sample):
    return any(
        (torch.is_tensor(one) and one.is_complex()) or isinstance(one, complex)
        for one in (sample.input, *sample.args, *sample.kwargs.values())
    )


@pytest.mark.sub
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64])
def test_sub_on_torchs_samples(dtype):
    samples.check("sub", dtype, ["sub"])
