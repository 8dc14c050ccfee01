# SPDX-License-Identifier: Apache-2.0
"""Accuracy of baddbmm, its out= and in-place forms, called directly and through torch."""

from __future__ import annotations

import pytest
import torch

import flag_gems
from flag_gems.testing import assert_close, options, to_reference
from flag_gems.testing.operands import FLOATING, values

pytestmark = pytest.mark.baddbmm

BIASES = [(13,), (4, 17, 13)] if options.quick else [(13,), (17, 1), (4, 1, 1), (4, 17, 13), ()]


def _reference(bias, a, b, beta=1, alpha=1):
    wide = [to_reference(tensor, upcast=True) for tensor in (bias, a, b)]
    return torch.baddbmm(*wide, beta=beta, alpha=alpha)


def _factors(dtype=torch.float32):
    return values((4, 17, 40), dtype), values((4, 40, 13), dtype)


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize(("beta", "alpha"), [(1, 1), (0.5, -1.25)])
@pytest.mark.parametrize("bias", BIASES)
def test_baddbmm(bias, beta, alpha, dtype):
    bias, (a, b) = values(bias, dtype), _factors(dtype)
    res = flag_gems.baddbmm(bias, a, b, beta=beta, alpha=alpha)
    assert_close(res, _reference(bias, a, b, beta, alpha), dtype, reduce_dim=40)


def test_baddbmm_with_beta_zero_does_not_read_the_bias():
    a, b = _factors()
    bias = torch.full((13,), float("nan"), device=flag_gems.device)
    res = flag_gems.baddbmm(bias, a, b, beta=0, alpha=2)
    assert_close(res, 2 * (to_reference(a, True) @ to_reference(b, True)), a.dtype, reduce_dim=40)


def test_baddbmm_in_place_and_into():
    a, b = _factors()
    bias = values((4, 17, 13), torch.float32)
    ref = _reference(bias, a, b, 2, 3)
    out = torch.empty_like(bias)
    assert flag_gems.baddbmm_out(bias, a, b, beta=2, alpha=3, out=out) is out
    assert flag_gems.baddbmm_(bias, a, b, beta=2, alpha=3) is bias
    for res in (out, bias):
        assert_close(res, ref, torch.float32, reduce_dim=40)


def test_baddbmm_through_torch():
    bias, (a, b) = values((13,), torch.float32), _factors()
    with flag_gems.use_gems(include=["baddbmm"]) as gems:
        res = torch.baddbmm(bias, a, b)
    assert gems.calls["baddbmm"] == 1
    assert_close(res, _reference(bias, a, b), torch.float32, reduce_dim=40)


def test_gradients_of_baddbmm():
    made = [values((13,), torch.float32), *_factors()]
    own = [tensor.requires_grad_() for tensor in made]
    wide = [to_reference(tensor, True) for tensor in own]
    torch.baddbmm(*wide, beta=0.5, alpha=2).sum().backward()
    flag_gems.baddbmm(*own, beta=0.5, alpha=2).sum().backward()
    for res, ref in zip(own, wide, strict=True):
        assert_close(res.grad, ref.grad, torch.float32, reduce_dim=4 * 17)
