# SPDX-License-Identifier: Apache-2.0
"""Accuracy of addmm, called directly and through torch."""

from __future__ import annotations

import pytest
import torch

import flag_gems
from flag_gems.testing import assert_close, options, to_reference
from flag_gems.testing.operands import FLOATING, values

pytestmark = pytest.mark.addmm

BIASES = [(13,), (17, 1)] if options.quick else [(13,), (17, 1), (17, 13), (1,), ()]


def _reference(bias, a, b, beta=1, alpha=1):
    wide = [to_reference(tensor, upcast=True) for tensor in (bias, a, b)]
    return torch.addmm(*wide, beta=beta, alpha=alpha)


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize(("beta", "alpha"), [(1, 1), (0.5, -1.25)])
@pytest.mark.parametrize("bias", BIASES)
def test_addmm(bias, beta, alpha, dtype):
    bias, a, b = values(bias, dtype), values((17, 40), dtype), values((40, 13), dtype)
    res = flag_gems.addmm(bias, a, b, beta=beta, alpha=alpha)
    assert_close(res, _reference(bias, a, b, beta, alpha), dtype, reduce_dim=40)


def test_addmm_with_beta_zero_does_not_read_the_bias():
    bias = torch.full((5,), float("nan"), device=flag_gems.device)
    a, b = values((3, 4), torch.float32), values((4, 5), torch.float32)
    res = flag_gems.addmm(bias, a, b, beta=0, alpha=2)
    assert_close(res, 2 * (to_reference(a, True) @ to_reference(b, True)), a.dtype, reduce_dim=4)


@pytest.mark.parametrize(("m", "k", "n"), [(0, 3, 4), (3, 0, 4), (3, 4, 0)])
def test_addmm_without_elements(m, k, n):
    bias = values((n,), torch.float32)
    a, b = values((m, k), torch.float32), values((k, n), torch.float32)
    res = flag_gems.addmm(bias, a, b, beta=0.5)
    assert_close(res, _reference(bias, a, b, beta=0.5), torch.float32)


def test_addmm_through_torch():
    x, weight = values((9, 20), torch.float32), values((7, 20), torch.float32)
    bias = values((7,), torch.float32)
    with flag_gems.use_gems(include=["addmm"]) as gems:
        res = torch.nn.functional.linear(x, weight, bias)
    assert gems.calls["addmm"] == 1
    assert_close(res, _reference(bias, x, weight.t()), torch.float32, reduce_dim=20)
