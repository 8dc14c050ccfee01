# SPDX-License-Identifier: Apache-2.0
"""Accuracy of mm, called directly and through torch."""

from __future__ import annotations

import pytest
import torch

import flag_gems
from flag_gems.testing import assert_close, options, to_reference
from flag_gems.testing.operands import FLOATING, values

pytestmark = pytest.mark.mm

SHAPES = [(1, 1, 1), (17, 33, 65)]
if not options.quick:
    SHAPES += [(64, 32, 16), (1, 300, 5), (130, 7, 257)]


def _check(a, b):
    ref = to_reference(a, upcast=True) @ to_reference(b, upcast=True)
    assert_close(flag_gems.mm(a, b), ref, a.dtype, reduce_dim=max(a.shape[1], 1))


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize(("m", "k", "n"), SHAPES)
def test_mm(m, k, n, dtype):
    _check(values((m, k), dtype), values((k, n), dtype))


def test_mm_of_strided_factors():
    _check(values((40, 33), torch.float32)[::2].t(), values((7, 40), torch.float32).t()[::2])


@pytest.mark.parametrize(("m", "k", "n"), [(0, 3, 4), (3, 0, 4), (3, 4, 0)])
def test_mm_without_elements(m, k, n):
    _check(values((m, k), torch.float32), values((k, n), torch.float32))


def test_mm_through_torch():
    a, b = values((9, 20), torch.float32), values((20, 7), torch.float32)
    with flag_gems.use_gems(include=["mm"]) as gems:
        res = a @ b
    assert gems.calls["mm"] == 1
    assert_close(res, to_reference(a, True) @ to_reference(b, True), a.dtype, reduce_dim=20)
