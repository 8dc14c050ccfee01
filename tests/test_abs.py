# SPDX-License-Identifier: Apache-2.0
"""Accuracy of abs, called directly and through torch."""

from __future__ import annotations

import pytest
import torch

import flag_gems
from flag_gems.testing import assert_equal, options, to_reference
from flag_gems.testing.operands import FLOATING, INTEGRAL, values

pytestmark = pytest.mark.abs

SHAPES = [(7, 33)] if options.quick else [(7, 33), (1,), (), (0, 3), (2, 3, 4, 5), (20_011,)]


@pytest.mark.parametrize("dtype", [*FLOATING, *INTEGRAL])
@pytest.mark.parametrize("shape", SHAPES)
def test_abs(shape, dtype):
    x = values(shape, dtype)
    assert_equal(flag_gems.abs(x), torch.abs(to_reference(x)))


def test_abs_of_strided_input():
    x = values((2, 3, 4, 5, 6, 7), torch.float32).permute(5, 0, 3, 1, 4, 2)[::2, :, ::2]
    assert_equal(flag_gems.abs(x), torch.abs(to_reference(x)))


def test_abs_of_special_values():
    x = torch.tensor([0.0, -0.0, float("inf"), -float("inf"), float("nan")]).to(flag_gems.device)
    res, ref = flag_gems.abs(x), torch.abs(to_reference(x))
    assert_equal(res, ref, equal_nan=True)
    # Equality does not see the sign of a zero, 1 / 0 does.
    assert_equal(1 / res[:2].cpu(), 1 / ref[:2].cpu())


def test_abs_through_torch():
    x = values((6, 40), torch.float32)
    with flag_gems.use_gems(include=["abs"]) as gems:
        res = x.abs()
    assert gems.calls["abs"] == 1
    assert_equal(res, to_reference(x).abs())
