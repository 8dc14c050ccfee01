# SPDX-License-Identifier: Apache-2.0
"""Accuracy of addmm_, called directly and through torch."""

from __future__ import annotations

import pytest
import torch

import flag_gems
from flag_gems.testing import assert_close, options, to_reference
from flag_gems.testing.operands import FLOATING, values

pytestmark = pytest.mark.addmm_

SHAPES = [(17, 40, 13)] if options.quick else [(17, 40, 13), (1, 1, 1), (64, 32, 16), (5, 300, 2)]


def _check(out, a, b, beta=1, alpha=1):
    wide = [to_reference(tensor, upcast=True) for tensor in (out, a, b)]
    ref = torch.addmm(*wide, beta=beta, alpha=alpha)
    res = flag_gems.addmm_(out, a, b, beta=beta, alpha=alpha)
    assert res.data_ptr() == out.data_ptr()
    assert_close(out, ref, out.dtype, reduce_dim=max(a.shape[1], 1))


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize(("beta", "alpha"), [(1, 1), (0.5, -1.25)])
@pytest.mark.parametrize(("m", "k", "n"), SHAPES)
def test_addmm_(m, k, n, beta, alpha, dtype):
    _check(values((m, n), dtype), values((m, k), dtype), values((k, n), dtype), beta, alpha)


def test_addmm_into_a_strided_tensor():
    out = values((13, 34), torch.float32).t()[::2]
    _check(out, values((17, 8), torch.float32), values((8, 13), torch.float32), beta=2)


def test_addmm_with_beta_zero_does_not_read_what_was_there():
    out = torch.full((3, 5), float("nan"), device=flag_gems.device)
    a, b = values((3, 4), torch.float32), values((4, 5), torch.float32)
    flag_gems.addmm_(out, a, b, beta=0)
    assert_close(out, to_reference(a, True) @ to_reference(b, True), a.dtype, reduce_dim=4)


def test_addmm_through_torch():
    out, a, b = (values(shape, torch.float32) for shape in ((9, 7), (9, 20), (20, 7)))
    ref = torch.addmm(*(to_reference(tensor, True) for tensor in (out, a, b)))
    with flag_gems.use_gems(include=["addmm_"]) as gems:
        res = out.addmm_(a, b)
    assert gems.calls["addmm_"] == 1
    assert res is out
    assert_close(out, ref, torch.float32, reduce_dim=20)
