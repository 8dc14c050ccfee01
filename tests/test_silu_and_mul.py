# SPDX-License-Identifier: Apache-2.0
"""Accuracy of silu_and_mul and its gradients."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import flag_gems
from flag_gems.testing import assert_close, options, to_reference
from flag_gems.testing.drawing import drawn, shapes
from flag_gems.testing.operands import FLOATING, values

SHAPES = [(37,), (5, 33), (3, 7, 17)]
if not options.quick:
    SHAPES += [(), (1, 1), (65, 4100)]


def _pair(shape, dtype):
    return values(shape, dtype), values((*shape, 1), dtype)[..., 0] * 1.5


def _reference(x, y):
    wide = to_reference(x, upcast=True)
    return wide * torch.sigmoid(wide) * to_reference(y, upcast=True)


@pytest.mark.silu_and_mul
@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("shape", SHAPES)
def test_silu_and_mul(shape, dtype):
    x, y = _pair(shape, dtype)
    assert_close(flag_gems.silu_and_mul(x, y), _reference(x, y), dtype)


@pytest.mark.silu_and_mul
@drawn
@given(shape=shapes.filter(bool), data=st.data())
def test_silu_and_mul_of_permuted_arguments(shape, data):
    order = data.draw(st.permutations(range(len(shape))))
    x = values(shape, torch.float32).permute(order)
    y = values(tuple(x.shape), torch.float32)
    assert_close(flag_gems.silu_and_mul(x, y), _reference(x, y), torch.float32)


@pytest.mark.silu_and_mul
@pytest.mark.parametrize("dtype", FLOATING)
def test_silu_and_mul_of_the_halves_of_a_matrix(dtype):
    x, y = values((6, 5, 66), dtype).chunk(2, -1)
    assert_close(flag_gems.silu_and_mul(x, y), _reference(x, y), dtype)


@pytest.mark.silu_and_mul
@pytest.mark.parametrize("dtype", FLOATING)
def test_silu_and_mul_backward(dtype):
    x, y = values((9, 130), dtype).chunk(2, -1)
    x, y = x.detach().requires_grad_(), y.detach().requires_grad_()
    grad = values((65, 9), dtype).t()
    res = torch.autograd.grad(flag_gems.silu_and_mul(x, y), (x, y), grad)
    ref_x, ref_y = to_reference(x, upcast=True), to_reference(y, upcast=True)
    out = torch.nn.functional.silu(ref_x) * ref_y
    ref = torch.autograd.grad(out, (ref_x, ref_y), to_reference(grad, upcast=True))
    assert_close(res[0], ref[0], dtype)
    assert_close(res[1], ref[1], dtype)


@pytest.mark.silu_and_mul
def test_silu_and_mul_has_right_first_and_second_derivatives():
    if not flag_gems.runtime.device.support_fp64:
        pytest.skip("no float64 on this device")
    x, y = (one.requires_grad_() for one in _pair((3, 5), torch.float64))
    assert torch.autograd.gradcheck(flag_gems.silu_and_mul, (x, y))
    assert torch.autograd.gradgradcheck(flag_gems.silu_and_mul, (x, y))


@pytest.mark.silu_and_mul
def test_silu_and_mul_of_extreme_values():
    inf = float("inf")
    x = torch.tensor([inf, -1e4, float("nan"), 1e4, 0.0], device=flag_gems.device)
    y = torch.tensor([1.0, 2.0, 3.0, 4.0, inf], device=flag_gems.device)
    assert_close(flag_gems.silu_and_mul(x, y), _reference(x, y), x.dtype, equal_nan=True)


@pytest.mark.silu_and_mul
def test_silu_and_mul_of_empty_and_unfit_arguments():
    x = values((0, 4), torch.float32)
    assert flag_gems.silu_and_mul(x, x).shape == (0, 4)
    with pytest.raises(ValueError, match="differ"):
        flag_gems.silu_and_mul(x, values((1, 4), torch.float32))
    with pytest.raises(TypeError, match="not a floating"):
        flag_gems.silu_and_mul(x, x.int())


@pytest.mark.silu_and_mul_out
@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("transposed", [False, True])
def test_silu_and_mul_out(transposed, dtype):
    x, y = _pair((12, 33), dtype)
    out = values((33, 12), dtype).t() if transposed else torch.empty_like(x)
    assert flag_gems.silu_and_mul_out(x, y, out) is out
    assert_close(out, _reference(x, y), dtype)


@pytest.mark.silu_and_mul_out
def test_silu_and_mul_out_refuses_another_shape():
    x, y = _pair((4, 3), torch.float32)
    with pytest.raises(ValueError, match="out must be"):
        flag_gems.silu_and_mul_out(x, y, x[:2])
    flag_gems.silu_and_mul_out(x, y, y)
