# SPDX-License-Identifier: Apache-2.0
"""The layers of flag_gems.modules against torch's own and against formulas."""

from __future__ import annotations

import math

import pytest
import torch

import flag_gems
from flag_gems.modules import GemsDeepseekYarnRoPE, GemsRMSNorm, GemsRope, GemsSiluAndMul
from flag_gems.testing import assert_close
from flag_gems.testing.operands import values

DEVICE = flag_gems.device


def test_rms_norm_is_that_of_torch_with_its_parameters_and_state():
    ours, own = GemsRMSNorm(48, eps=1e-5, device=DEVICE), torch.nn.RMSNorm(48, eps=1e-5)
    own.load_state_dict({"weight": values((48,), torch.float32).cpu()})
    ours.load_state_dict(own.state_dict())
    x = values((4, 7, 48), torch.float32)
    assert_close(ours(x), own(x.cpu()), torch.float32)


def test_rms_norm_with_a_residual_overwrites_only_where_no_gradient_is_asked():
    norm = GemsRMSNorm((3, 8), device=DEVICE)
    x, residual = values((5, 3, 8), torch.float32), values((5, 3, 8), torch.float32).flip(0)
    total = x + residual
    trained, sum_ = norm(x, residual)
    torch.autograd.backward(trained.sum())
    assert norm.weight.grad is not None
    assert_close(sum_, total, torch.float32)
    with torch.inference_mode():
        res, changed = norm(x.clone(), residual)
    assert changed is residual
    assert_close(residual, total, torch.float32)
    assert_close(res, trained, torch.float32)


def test_rms_norm_without_weight():
    x = values((5, 16), torch.float32)
    norm = GemsRMSNorm(16, elementwise_affine=False)
    assert list(norm.parameters()) == []
    assert_close(norm(x), torch.nn.functional.rms_norm(x, (16,), None, 1e-6), torch.float32)
    assert_close(norm(x, x)[1], 2 * x, torch.float32)


def test_silu_and_mul():
    x, y = values((3, 20), torch.float32).chunk(2, -1)
    assert_close(GemsSiluAndMul()(x, y), torch.nn.functional.silu(x) * y, torch.float32)


@pytest.mark.parametrize("interleaved", [False, True])
def test_rope_keeps_products_of_queries_and_keys_a_function_of_distance(interleaved):
    rope = GemsRope(32, 64, rotary_interleaved=interleaved, device=DEVICE)
    assert rope.cos_cached.shape == rope.sin_cached.shape == (64, 16)
    q, k = (values((1, 1, 1, 32), torch.float32).expand(1, 40, 1, 32) for _ in range(2))
    q, k = rope(q, k)
    for apart in (0, 7):
        products = (q[0, apart:, 0] * k[0, : 40 - apart, 0]).sum(-1)
        assert_close(products, products[:1].expand_as(products), torch.float32, reduce_dim=32)
    in_place = values((1, 40, 1, 32), torch.float32)
    expected = rope(in_place, in_place.clone())[0]
    assert rope(in_place, in_place.clone(), inplace=True)[0] is in_place
    assert_close(in_place, expected, torch.float32)


def test_rope_has_the_frequencies_of_its_base_and_no_state():
    rope = GemsRope(8, 10, base=500.0, dtype=torch.float64, device=DEVICE)
    angles = torch.outer(torch.arange(10.0), 500.0 ** (-torch.arange(0, 8, 2) / 8))
    assert_close(rope.cos_cached.cpu(), angles.double().cos(), torch.float64, atol=1e-5)
    assert rope.state_dict() == {}
    with pytest.raises(ValueError, match="not even"):
        GemsRope(7)


def test_yarn_keeps_fast_pairs_slows_down_slow_ones_and_goes_over_linearly():
    common = {"max_position_embeddings": 2, "dtype": torch.float64, "device": DEVICE}
    factor, context = 40.0, 4096
    yarn = GemsDeepseekYarnRoPE(64, scaling_factor=factor, mscale_all_dim=1.0, **common)
    frequencies = torch.atan2(yarn.sin_cached, yarn.cos_cached)[1].cpu()
    plain = 10000.0 ** (-torch.arange(0, 64, 2, dtype=torch.float64) / 64)
    turns = context * plain / (2 * math.pi)
    rest = frequencies / plain
    # One pair of tolerance at each bound, as bounds are rounded to whole pairs outwards.
    fast, slow = turns.gt(32).sum().item(), turns.gt(1).sum().item()
    torch.testing.assert_close(rest[: fast - 1], torch.ones(fast - 1).double(), rtol=1e-5, atol=0)
    slowed = torch.full((32 - slow - 1,), 1 / factor, dtype=torch.float64)
    torch.testing.assert_close(rest[slow + 1 :], slowed, rtol=1e-4, atol=0)
    steps = rest[fast : slow - 1].diff()
    torch.testing.assert_close(steps, steps[:1].expand_as(steps), rtol=1e-3, atol=1e-6)
    assert (steps < 0).all()


def test_yarn_scales_its_tables_by_the_quotient_of_temperatures():
    yarn = GemsDeepseekYarnRoPE(
        16, 4, scaling_factor=40.0, mscale=0.7, mscale_all_dim=0.2, device=DEVICE
    )
    size = (yarn.cos_cached.square() + yarn.sin_cached.square()).sqrt()
    expected = (0.07 * math.log(40) + 1) / (0.02 * math.log(40) + 1)
    assert_close(size, torch.full_like(size, expected), torch.float32)
    plain = GemsRope(16, 4, device=DEVICE)
    unscaled = GemsDeepseekYarnRoPE(16, 4, device=DEVICE)
    assert_close(unscaled.cos_cached, plain.cos_cached, torch.float32)
