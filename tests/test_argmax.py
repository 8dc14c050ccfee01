# SPDX-License-Identifier: Apache-2.0
"""Accuracy of argmax and argmin, called directly and through torch."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import flag_gems
from flag_gems.testing import assert_equal, options, samples, to_reference
from flag_gems.testing.drawing import drawn, shapes
from flag_gems.testing.operands import FLOATING, INTEGRAL, values

pytestmark = pytest.mark.argmax

SHAPES = [(37,), (7, 130)] if options.quick else [(37,), (7, 130), (3, 5, 33), (1, 1), (50_021,)]


@pytest.mark.argmax
@pytest.mark.parametrize("dtype", [*FLOATING, *INTEGRAL])
@pytest.mark.parametrize("dim", [None, -1, 0])
@pytest.mark.parametrize("shape", SHAPES)
def test_argmax(shape, dim, dtype):
    x = values(shape, dtype)
    assert_equal(flag_gems.argmax(x, dim), torch.argmax(to_reference(x), dim))


@pytest.mark.argmax
@drawn
@given(shape=shapes.filter(bool), data=st.data())
def test_argmax_of_permuted_input(shape, data):
    order = data.draw(st.permutations(range(len(shape))))
    dim = data.draw(st.none() | st.integers(-len(shape), len(shape) - 1))
    keepdim = data.draw(st.booleans())
    x = values(shape, torch.int32).permute(order)
    assert_equal(flag_gems.argmax(x, dim, keepdim), torch.argmax(to_reference(x), dim, keepdim))


@pytest.mark.argmax
def test_argmax_takes_the_first_of_equals_and_the_first_nan():
    inf, nan = float("inf"), float("nan")
    rows = [[1, 3, 3, 0], [inf, nan, 0, nan], [-inf] * 4, [nan] * 4, [-3, -2, -2, -inf]]
    x = torch.tensor(rows, device=flag_gems.device)
    assert flag_gems.argmax(x, 1).tolist() == [1, 1, 0, 0, 1]
    assert flag_gems.argmax(x).item() == 5


@pytest.mark.argmax
@pytest.mark.parametrize(("shape", "dim"), [((), None), ((), 0), ((0, 3), 1)])
def test_argmax_of_few_elements(shape, dim):
    x = values(shape, torch.float32)
    assert_equal(flag_gems.argmax(x, dim), torch.argmax(to_reference(x), dim))


@pytest.mark.argmax
def test_argmax_through_torch():
    x = values((6, 40), torch.float32)
    with flag_gems.use_gems(include=["argmax"]) as gems:
        res = x.argmax(1)
    assert gems.calls["argmax"] == 1
    assert_equal(res, torch.argmax(to_reference(x), 1))


@pytest.mark.argmin
@pytest.mark.parametrize("dtype", [*FLOATING, *INTEGRAL])
@pytest.mark.parametrize("dim", [None, -1, 0])
def test_argmin(dim, dtype):
    for shape in SHAPES:
        x = values(shape, dtype)
        assert_equal(flag_gems.argmin(x, dim), torch.argmin(to_reference(x), dim))


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=getattr(pytest.mark, name)) for name in ("argmax", "argmin")]
)
def test_on_torchs_samples(name):
    samples.check(name, torch.float32, [name])
