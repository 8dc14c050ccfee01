# SPDX-License-Identifier: Apache-2.0
"""Accuracy of fused_add_rms_norm, which overwrites both of its arguments."""

from __future__ import annotations

import pytest
import torch

import flag_gems
from flag_gems.testing import assert_close, options, to_reference
from flag_gems.testing.operands import FLOATING, values

pytestmark = pytest.mark.fused_add_rms_norm

SHAPES = [((4, 37), 1), ((2, 3, 128), 1), ((3, 5, 7), 2)]
if not options.quick:
    SHAPES += [((1, 1), 1), ((65, 96), 1), ((2, 40001), 1), ((128,), 1)]


def _reference(x, residual, columns, weight, eps):
    total = to_reference(x, upcast=True) + to_reference(residual, upcast=True)
    mean = total.square().mean(tuple(range(-len(columns), 0)), keepdim=True)
    return total / (mean + eps).sqrt() * to_reference(weight, upcast=True), total


def _residual(shape, dtype):
    return values(shape, dtype).flip(0) * 0.5


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize(("shape", "normalized"), SHAPES)
def test_fused_add_rms_norm(shape, normalized, dtype):
    columns = shape[-normalized:]
    x, residual, weight = values(shape, dtype), _residual(shape, dtype), values(columns, dtype)
    ref, ref_residual = _reference(x, residual, columns, weight, 1e-5)
    res, res_residual = flag_gems.fused_add_rms_norm(x, residual, columns, weight, 1e-5)
    assert res is x
    assert res_residual is residual
    assert_close(res, ref, dtype)
    assert_close(res_residual, ref_residual, dtype)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_fused_add_rms_norm_keeps_the_precision_of_its_dtype(dtype):
    if dtype is torch.float64 and not flag_gems.runtime.device.support_fp64:
        pytest.skip("no float64 on this device")
    x, residual, weight = values((6, 300), dtype), _residual((6, 300), dtype), values((300,), dtype)
    ref, _ = _reference(x, residual, (300,), weight, 1e-6)
    res, _ = flag_gems.fused_add_rms_norm(x, residual, 300, weight, 1e-6)
    # float64 far below what a sum in float32 could reach.
    bound = 1e-13 if dtype is torch.float64 else 1e-5
    assert (res.to(ref.device, torch.float64) - ref).abs().max().item() < bound


@pytest.mark.parametrize("layout", ["rows of a wider matrix", "transposed", "every other column"])
def test_fused_add_rms_norm_of_strided_arguments(layout):
    def strided(seed):
        whole = values((24, 40 + seed), torch.float32)
        if layout == "rows of a wider matrix":
            return whole[:20, 4:36]
        return (
            whole[:20, :32].t().contiguous().t()
            if layout == "transposed"
            else whole[:20, ::2][:, :20]
        )

    x, residual = strided(0), strided(8)
    columns = x.shape[1]
    weight = values((2 * columns,), torch.float32)[::2]
    ref, total = _reference(x, residual, (columns,), weight, 1e-5)
    flag_gems.fused_add_rms_norm(x, residual, columns, weight)
    assert_close(x, ref, torch.float32)
    assert_close(residual, total, torch.float32)


def test_fused_add_rms_norm_of_mixed_dtypes():
    x, residual = values((5, 64), torch.float16), _residual((5, 64), torch.float32)
    weight = values((64,), torch.float32)
    ref, total = _reference(x, residual, (64,), weight, 1e-5)
    flag_gems.fused_add_rms_norm(x, residual, 64, weight)
    assert_close(x, ref, torch.float16)
    assert_close(residual, total, torch.float32)


def test_fused_add_rms_norm_of_rows_with_inf_and_nan():
    x = torch.zeros((3, 8), device=flag_gems.device)
    x[0, 1], x[1, 2] = float("inf"), float("nan")
    residual, weight = torch.ones_like(x), torch.ones(8, device=flag_gems.device)
    ref, total = _reference(x, residual, (8,), weight, 1e-5)
    flag_gems.fused_add_rms_norm(x, residual, 8, weight)
    assert_close(x, ref, torch.float32, equal_nan=True)
    assert_close(residual, total, torch.float32, equal_nan=True)


def test_fused_add_rms_norm_without_rows():
    x, weight = values((0, 8), torch.float32), values((8,), torch.float32)
    res, residual = flag_gems.fused_add_rms_norm(x, x.clone(), 8, weight)
    assert res.shape == residual.shape == (0, 8)


def test_fused_add_rms_norm_refuses_what_does_not_fit():
    x, weight = values((4, 8), torch.float32), values((8,), torch.float32)
    with pytest.raises(ValueError, match="normalized_shape"):
        flag_gems.fused_add_rms_norm(x, x.clone(), (4,), weight)
    with pytest.raises(ValueError, match="differ"):
        flag_gems.fused_add_rms_norm(x, values((3, 8), torch.float32), 8, weight)
    with pytest.raises(TypeError, match="not a floating"):
        flag_gems.fused_add_rms_norm(x, x.int(), 8, weight)
    with pytest.raises(RuntimeError, match="not differentiable"):
        flag_gems.fused_add_rms_norm(x.clone().requires_grad_(), x.clone(), 8, weight)
    flag_gems.fused_add_rms_norm(x, x.clone(), 8, weight)
