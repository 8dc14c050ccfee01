# SPDX-License-Identifier: Apache-2.0
"""Accuracy of layer_norm, called directly and through torch."""

from __future__ import annotations

import pytest
import torch

import flag_gems
from flag_gems.testing import assert_close, options, to_reference
from flag_gems.testing.operands import FLOATING, values

pytestmark = pytest.mark.layer_norm

SHAPES = [((4, 37), 1), ((3, 5, 7), 2)]
if not options.quick:
    SHAPES += [((1, 2), 1), ((65, 96), 1), ((2, 5003), 1)]


def _reference(x, columns, weight=None, bias=None):
    weight, bias = to_reference(weight, upcast=True), to_reference(bias, upcast=True)
    return torch.nn.functional.layer_norm(to_reference(x, upcast=True), columns, weight, bias)


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize(("shape", "normalized"), SHAPES)
def test_layer_norm(shape, normalized, affine, dtype):
    columns = shape[-normalized:]
    x = values(shape, dtype)
    weight, bias = (values(columns, dtype),) * 2 if affine else (None, None)
    res = flag_gems.layer_norm(x, columns, weight, bias)
    assert_close(res, _reference(x, columns, weight, bias), dtype)


def test_layer_norm_far_from_zero():
    # The reference sees the same rounded input, so what remains is the rounding of the mean:
    # 2**-24 x 10000 is 6e-4.
    x = values((3, 200), torch.float32) + 1e4
    assert_close(flag_gems.layer_norm(x, (200,)), _reference(x, (200,)), torch.float32, atol=2e-3)


def test_layer_norm_of_strided_input():
    x = values((12, 5, 16), torch.float32).permute(1, 2, 0)[:, ::2]
    assert_close(flag_gems.layer_norm(x, (12,)), _reference(x, (12,)), torch.float32)


def test_layer_norm_without_rows():
    assert flag_gems.layer_norm(values((0, 8), torch.float32), (8,)).shape == (0, 8)
