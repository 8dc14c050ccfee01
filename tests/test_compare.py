# SPDX-License-Identifier: Apache-2.0
"""Accuracy of comparisons, maximum and minimum."""

from __future__ import annotations

import pytest
import torch

import flag_gems
from flag_gems.testing import assert_equal, samples, to_reference
from flag_gems.testing.operands import FLOATING, INTEGRAL, values

COMPARISONS = ["eq", "ne", "lt", "le", "gt", "ge"]
CHOICES = ["maximum", "minimum"]
SPECIAL = [0.0, -0.0, 1.0, -1.5, float("inf"), -float("inf"), float("nan")]


def _marked(names):
    return [pytest.param(name, marks=getattr(pytest.mark, name)) for name in names]


@pytest.mark.parametrize("name", _marked([*COMPARISONS, *CHOICES]))
@pytest.mark.parametrize("dtype", [*FLOATING, *INTEGRAL, torch.bool, torch.int8])
def test_tensors(name, dtype):
    x, y = values((7, 33), dtype), values((33,), dtype)
    ref = getattr(torch, name)(to_reference(x), to_reference(y))
    assert_equal(getattr(flag_gems, name)(x, y), ref)


@pytest.mark.parametrize("name", _marked([*COMPARISONS, *CHOICES]))
def test_special_values(name):
    line = torch.tensor(SPECIAL, device=flag_gems.device)
    x, y = line[:, None], line[None, :]
    assert_equal(getattr(flag_gems, name)(x, y), getattr(torch, name)(x, y), equal_nan=True)


@pytest.mark.parametrize("name", _marked(COMPARISONS))
@pytest.mark.parametrize("number", [0, 3, 0.5, True])
def test_numbers(name, number):
    for dtype in (torch.float32, torch.int32, torch.bool):
        x = values((40,), dtype)
        ref = getattr(torch, name)(to_reference(x), number)
        assert_equal(getattr(flag_gems, name)(x, number), ref)
        with flag_gems.use_gems(include=[name]) as gems:
            res = getattr(torch, name)(x, number)
        assert_equal(res, ref)
        assert gems.calls.total() == 1


@pytest.mark.parametrize("name", _marked([*COMPARISONS, *CHOICES]))
def test_mixed_dtypes(name):
    x, y = values((40,), torch.int32), values((40,), torch.float16)
    ref = getattr(torch, name)(to_reference(x), to_reference(y))
    assert_equal(getattr(flag_gems, name)(x, y), ref)


@pytest.mark.parametrize("name", _marked([*COMPARISONS, *CHOICES]))
def test_on_torchs_samples(name):
    samples.check(name, torch.float32, [name])
