# SPDX-License-Identifier: Apache-2.0
"""Accuracy of the key path of an RWKV block."""

from __future__ import annotations

import pytest
import torch

import flag_gems
from flag_gems.testing import assert_close, options, to_reference
from flag_gems.testing.operands import FLOATING, values

pytestmark = pytest.mark.rwkv_ka_fusion

CASES = [((6,), 3, 20), ((2, 5), 8, 64)]
if not options.quick:
    CASES += [((1,), 1, 1), ((130,), 2, 100), ((), 4, 8)]


def _arguments(leading, heads, size, dtype):
    channels = heads * size
    k, a = values((*leading, channels), dtype), torch.sigmoid(values((*leading, channels), dtype))
    return k, values((channels,), dtype), a, values((channels, 1), dtype)[:, 0]


def _reference(k, kk, a, ka, heads, size):
    k, kk, a, ka = (to_reference(one, upcast=True) for one in (k, kk, a, ka))
    scaled = (k * kk).unflatten(-1, (heads, size))
    unit = (scaled / scaled.norm(dim=-1, keepdim=True).clamp_min(1e-12)).flatten(-2)
    return k * (1 + (a - 1) * ka), unit, unit * a


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize(("leading", "heads", "size"), CASES)
def test_rwkv_ka_fusion(leading, heads, size, dtype):
    arguments = _arguments(leading, heads, size, dtype)
    res = flag_gems.rwkv_ka_fusion(*arguments, heads, size)
    for one, ref in zip(res, _reference(*arguments, heads, size), strict=True):
        assert_close(one, ref, dtype)


def test_rwkv_ka_fusion_of_strided_arguments_and_of_a_head_of_zeros():
    k, kk, a, ka = _arguments((5,), 4, 6, torch.float32)
    k = k.t().contiguous().t()
    k[2, 6:12] = 0
    kk = torch.stack([kk, kk], 1)[:, 0]
    res = flag_gems.rwkv_ka_fusion(k, kk, a, ka, 4, 6)
    for one, ref in zip(res, _reference(k, kk, a, ka, 4, 6), strict=True):
        assert_close(one, ref, torch.float32)


def test_rwkv_ka_fusion_of_no_token_and_of_unfit_arguments():
    k, kk, a, ka = _arguments((5,), 4, 6, torch.float32)
    assert [one.shape for one in flag_gems.rwkv_ka_fusion(k[:0], kk, a[:0], ka, 4, 6)] == [
        (0, 24)
    ] * 3
    with pytest.raises(ValueError, match="do not fit"):
        flag_gems.rwkv_ka_fusion(k, kk, a, ka, 4, 5)
    with pytest.raises(ValueError, match="share one floating"):
        flag_gems.rwkv_ka_fusion(k, kk.half(), a, ka, 4, 6)
    with pytest.raises(RuntimeError, match="not differentiable"):
        flag_gems.rwkv_ka_fusion(k.requires_grad_(), kk, a, ka, 4, 6)
