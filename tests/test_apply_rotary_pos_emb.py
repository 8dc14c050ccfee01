# SPDX-License-Identifier: Apache-2.0
"""Accuracy of rotary position embedding against a product of complex numbers."""

from __future__ import annotations

import pytest
import torch

import flag_gems
from flag_gems.testing import assert_close, options, to_reference
from flag_gems.testing.operands import FLOATING, values

pytestmark = pytest.mark.apply_rotary_pos_emb

SIZES = [(8, 4), (64, 64), (80, 48)]
if not options.quick:
    SIZES += [(96, 96), (256, 256), (12, 2)]


def _angles(positions, rotated, dtype):
    exponents = torch.arange(0, rotated, 2, dtype=torch.float64) / rotated
    angles = torch.outer(torch.arange(positions, dtype=torch.float64), 100.0**-exponents)
    return (f(angles).to(dtype).to(flag_gems.device) for f in (torch.cos, torch.sin))


def _reference(x, cos, sin, positions, interleaved):
    x, cos, sin = (to_reference(one, upcast=True) for one in (x, cos, sin))
    half = cos.shape[1]
    place = torch.arange(x.shape[-3], device=x.device) if positions is None else positions
    turn = torch.complex(cos, sin)[place.to(x.device)].unsqueeze(-2)
    pairs = x[..., : 2 * half]
    pairs = pairs.unflatten(-1, (half, 2)) if interleaved else pairs.unflatten(-1, (2, half)).mT
    turned = torch.view_as_real(torch.complex(*pairs.unbind(-1)) * turn)
    turned = turned.flatten(-2) if interleaved else turned.mT.flatten(-2)
    return torch.cat([turned, x[..., 2 * half :]], -1)


def _positions(shape, limit):
    generator = torch.Generator().manual_seed(7)
    return torch.randint(0, limit, shape, generator=generator).to(flag_gems.device)


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize(("size", "rotated"), SIZES)
def test_apply_rotary_pos_emb(size, rotated, given, interleaved, dtype):
    q, k = values((2, 7, 5, size), dtype), values((2, 7, 2, size), dtype)
    cos, sin = _angles(16, rotated, dtype)
    positions = _positions((2, 7), 16) if given else None
    res = flag_gems.apply_rotary_pos_emb(
        q=q, k=k, cos=cos, sin=sin, position_ids=positions, rotary_interleaved=interleaved
    )
    for turned, x in zip(res, (q, k), strict=True):
        assert_close(turned, _reference(x, cos, sin, positions, interleaved), dtype)


@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("leading", [(6,), (2, 6), (3, 1, 6)])
def test_apply_rotary_pos_emb_in_place(leading, interleaved):
    q, k = (
        values((*leading, 4, 40), torch.float32),
        values((*leading, 4, 40), torch.float32)[..., :32],
    )
    q = q[..., 8:]
    cos, sin = _angles(9, 32, torch.float32)
    positions = _positions(leading, 9).int()
    refs = [_reference(x, cos, sin, positions, interleaved) for x in (q, k)]
    res = flag_gems.apply_rotary_pos_emb(q, k, cos, sin, positions, interleaved, inplace=True)
    assert res[0] is q
    assert res[1] is k
    for turned, ref in zip(res, refs, strict=True):
        assert_close(turned, ref, torch.float32)


@pytest.mark.parametrize("inplace", [False, True])
@pytest.mark.parametrize("order", [(0, 2, 1, 3), (1, 0, 2, 3), (3, 1, 2, 0)])
def test_apply_rotary_pos_emb_of_permuted_tensors(order, inplace):
    shape = [0] * 4
    for place, length in zip(order, (3, 5, 4, 16), strict=True):
        shape[place] = length
    q, k = (values(tuple(shape), torch.float32).permute(order) for _ in range(2))
    cos, sin = _angles(5, 16, torch.float32)
    refs = [_reference(x, cos, sin, None, False) for x in (q, k)]
    res = flag_gems.apply_rotary_pos_emb(q, k.clone(), cos, sin, inplace=inplace)
    for turned, ref in zip(res, refs, strict=True):
        assert_close(turned, ref, torch.float32)


@pytest.mark.parametrize("interleaved", [False, True])
def test_apply_rotary_pos_emb_has_right_derivatives(interleaved):
    if not flag_gems.runtime.device.support_fp64:
        pytest.skip("no float64 on this device")
    q = values((1, 3, 2, 6), torch.float64).requires_grad_()
    k = values((1, 3, 1, 6), torch.float64).requires_grad_()
    cos, sin = _angles(3, 4, torch.float64)

    def turned(q, k):
        return flag_gems.apply_rotary_pos_emb(q, k, cos, sin, None, interleaved)

    assert torch.autograd.gradcheck(turned, (q, k))
    assert torch.autograd.gradgradcheck(turned, (q, k))


def test_a_position_outside_the_table_gives_nan():
    q = values((1, 3, 1, 4), torch.float32)
    cos, sin = _angles(5, 4, torch.float32)
    positions = torch.tensor([[4, 5, -1]], device=flag_gems.device)
    res, _ = flag_gems.apply_rotary_pos_emb(q, q.clone(), cos, sin, positions)
    assert res.isnan().all((0, 2, 3)).tolist() == [False, True, True]


def test_apply_rotary_pos_emb_of_no_token_and_of_unfit_arguments():
    cos, sin = _angles(5, 4, torch.float32)
    empty = values((2, 0, 3, 4), torch.float32)
    assert flag_gems.apply_rotary_pos_emb(empty, empty, cos, sin)[0].shape == (2, 0, 3, 4)
    q = values((2, 6, 3, 4), torch.float32)
    rotate = flag_gems.apply_rotary_pos_emb
    with pytest.raises(ValueError, match="6 positions"):
        rotate(q, q, cos, sin)
    with pytest.raises(ValueError, match="position_ids"):
        rotate(q, q, cos, sin, torch.zeros(6, dtype=torch.int64, device=flag_gems.device))
    with pytest.raises(ValueError, match="half of the rotated"):
        rotate(q[..., :2], q[..., :2], cos, sin)
    with pytest.raises(TypeError, match="not a floating"):
        rotate(q.int(), q, cos, sin)
    with pytest.raises(RuntimeError, match="requires a gradient"):
        rotate(q[:, :5].detach().requires_grad_(), q[:, :5], cos, sin, inplace=True)
