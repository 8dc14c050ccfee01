# SPDX-License-Identifier: Apache-2.0
"""Operators that are differentiable when they are called directly."""

from __future__ import annotations

import pytest
import torch

import flag_gems

pytestmark = pytest.mark.requires_capabilities("dtype.fp64")


def _input(*shape: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(7)
    made = torch.randn(shape, generator=generator, dtype=torch.float64)
    return made.to(flag_gems.device).requires_grad_()


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_softmax(dim):
    x = _input(3, 4, 5).permute(1, 0, 2)
    assert torch.autograd.gradcheck(lambda x: flag_gems.softmax(x, dim), (x,), fast_mode=True)


@pytest.mark.parametrize("weighted", [True, False])
def test_rms_norm(weighted):
    arguments = (_input(5, 3, 4), _input(3, 4)) if weighted else (_input(5, 3, 4),)
    assert torch.autograd.gradcheck(
        lambda x, weight=None: flag_gems.rms_norm(x, (3, 4), weight), arguments, fast_mode=True
    )


def test_rms_norm_gradient_of_the_weight_alone():
    x, weight = _input(5, 4).detach(), _input(4)
    flag_gems.rms_norm(x, 4, weight).sum().backward()
    expected = torch.nn.functional.rms_norm(x, (4,), None, 1e-5).sum(0)
    torch.testing.assert_close(weight.grad, expected)


def test_rms_norm_of_no_rows_has_a_gradient():
    x, weight = _input(0, 4), _input(4)
    flag_gems.rms_norm(x, 4, weight).sum().backward()
    assert x.grad.shape == (0, 4)
    assert weight.grad.tolist() == [0.0] * 4


SECOND = {
    "softmax": (lambda x: flag_gems.softmax(x, 1), ((3, 4, 2),)),
    "rms_norm": (lambda x: flag_gems.rms_norm(x, (4, 2)), ((3, 4, 2),)),
    "rms_norm, weighted": (lambda x, w: flag_gems.rms_norm(x, (4, 2), w), ((3, 4, 2), (4, 2))),
    "layer_norm": (
        lambda x, w, b: flag_gems.layer_norm(x, (4, 2), w, b),
        ((3, 4, 2), (4, 2), (4, 2)),
    ),
}


@pytest.mark.parametrize("case", SECOND)
def test_second_derivative(case):
    operator, sizes = SECOND[case]
    inputs = tuple(_input(*size) for size in sizes)
    assert torch.autograd.gradgradcheck(operator, inputs, fast_mode=True)


@pytest.mark.parametrize("shape", [(0, 4), (3, 0)])
def test_second_derivative_of_nothing(shape):
    x = _input(*shape)
    (first,) = torch.autograd.grad(
        flag_gems.rms_norm(x, shape[1]).square().sum(), x, create_graph=True
    )
    assert torch.autograd.grad(first.sum(), x)[0].shape == shape


def test_second_derivative_where_the_first_slope_is_constant():
    x, slope = _input(3, 4), _input(3, 4).detach().square()

    def penalty(softmax):
        (first,) = torch.autograd.grad((softmax(x, 1) * slope).sum(), x, create_graph=True)
        return torch.autograd.grad(first.square().sum(), x)[0]

    torch.testing.assert_close(penalty(flag_gems.softmax), penalty(torch.softmax))


def test_second_derivative_of_softmax_to_a_wider_dtype():
    x = _input(3, 4).detach().half().requires_grad_()
    (first,) = torch.autograd.grad(
        flag_gems.softmax(x, 1, torch.float32).square().sum(), x, create_graph=True
    )
    assert first.dtype is torch.float16
    wide = x.detach().double().requires_grad_()
    (ref,) = torch.autograd.grad(torch.softmax(wide, 1).square().sum(), wide, create_graph=True)
    (res,) = torch.autograd.grad(first.float().sum(), x)
    (ref,) = torch.autograd.grad(ref.sum(), wide)
    # The second derivative passes through the half precision of x twice.
    torch.testing.assert_close(res.double(), ref, rtol=2e-3, atol=1e-3)


def test_layer_norm():
    arguments = (_input(5, 3), _input(3), _input(3))
    assert torch.autograd.gradcheck(
        lambda x, weight, bias: flag_gems.layer_norm(x, 3, weight, bias), arguments, fast_mode=True
    )
