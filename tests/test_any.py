# SPDX-License-Identifier: Apache-2.0
"""Accuracy of any and all."""

from __future__ import annotations

import pytest
import torch

import flag_gems
from flag_gems.testing import assert_equal, options, samples, to_reference
from flag_gems.testing.operands import FLOATING, values

NAMES = [pytest.param(name, marks=getattr(pytest.mark, name)) for name in ("any", "all")]
SHAPES = [(7, 130)] if options.quick else [(37,), (7, 130), (3, 5, 33), (50_021,)]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", [*FLOATING, torch.int32, torch.uint8, torch.bool])
def test_any_and_all(name, dtype):
    for shape in SHAPES:
        one = values(shape, torch.float32) > 2.5
        x = (~one if name == "all" else one).to(dtype)
        for dims in (None, 0, -1, [0, -1] if len(shape) > 1 else [0]):
            res = getattr(flag_gems, name)(x, dims)
            ref = getattr(torch, name)(to_reference(x), dims)
            assert_equal(res, ref)


@pytest.mark.parametrize("name", NAMES)
def test_special_values_and_nothing(name):
    nan = torch.tensor([float("nan"), -0.0], device=flag_gems.device)
    for x in (nan, nan[:1], nan[1:], nan[:0], nan[0]):
        assert_equal(getattr(flag_gems, name)(x), getattr(torch, name)(x))
    empty = values((0, 3), torch.int32)
    assert_equal(getattr(flag_gems, name)(empty, 0), getattr(torch, name)(empty, 0))
    with pytest.raises(IndexError):
        getattr(flag_gems, name)(nan, 3)


@pytest.mark.parametrize("name", NAMES)
def test_on_torchs_samples(name):
    samples.check(name, torch.float32, [name])
