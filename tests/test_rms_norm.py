# SPDX-License-Identifier: Apache-2.0
"""Accuracy of rms_norm."""

from __future__ import annotations

import pytest
import torch

import flag_gems
from flag_gems.testing import assert_close, options, to_reference
from flag_gems.testing.operands import FLOATING, values

pytestmark = pytest.mark.rms_norm

SHAPES = [((4, 37), 1), ((2, 3, 128), 1), ((3, 5, 7), 2)]
if not options.quick:
    SHAPES += [((1, 1), 1), ((65, 96), 1), ((2, 5003), 1), ((128,), 1)]


def _reference(x, columns, weight, eps):
    wide = to_reference(x, upcast=True)
    mean = wide.square().mean(tuple(range(-len(columns), 0)), keepdim=True)
    scaled = wide / (mean + eps).sqrt()
    return scaled if weight is None else scaled * to_reference(weight, upcast=True)


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize(("shape", "normalized"), SHAPES)
def test_rms_norm(shape, normalized, weighted, dtype):
    columns = shape[-normalized:]
    x = values(shape, dtype)
    weight = values(columns, dtype) if weighted else None
    res = flag_gems.rms_norm(x, columns, weight, 1e-5)
    assert_close(res, _reference(x, columns, weight, 1e-5), dtype)


def test_rms_norm_of_strided_input():
    x = values((12, 5, 16), torch.float32).permute(1, 2, 0)[:, ::2]
    weight = values((24,), torch.float32)[::2]
    res = flag_gems.rms_norm(x, (12,), weight, 1e-6)
    assert_close(res, _reference(x, (12,), weight, 1e-6), torch.float32)


@pytest.mark.parametrize("eps", [1e-6, 0.5])
def test_rms_norm_of_tiny_values_is_ruled_by_eps(eps):
    x = values((3, 10), torch.float32) * 1e-4
    res = flag_gems.rms_norm(x, (10,), eps=eps)
    assert_close(res, _reference(x, (10,), None, eps), torch.float32, atol=1e-8)


def test_rms_norm_without_rows():
    assert flag_gems.rms_norm(values((0, 8), torch.float32), (8,)).shape == (0, 8)
