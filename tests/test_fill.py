# SPDX-License-Identifier: Apache-2.0
"""Accuracy of fill, in place and into a new tensor."""

from __future__ import annotations

import pytest
import torch

import flag_gems
from flag_gems.testing import assert_equal, options, samples, to_reference
from flag_gems.testing.operands import FLOATING, INTEGRAL, values

pytestmark = pytest.mark.fill

SHAPES = [(7, 33)] if options.quick else [(7, 33), (), (0, 3), (20_011,)]
DTYPES = [*FLOATING, torch.float64, *INTEGRAL, torch.int8, torch.bool]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("value", [0, 1, 3.7, True])
def test_fill(dtype, value):
    for shape in SHAPES:
        x = values(shape, dtype)
        ref = torch.fill(to_reference(x), value)
        assert_equal(flag_gems.fill(x, value), ref)
        as_tensor = torch.tensor(value, dtype=torch.float64, device=x.device)
        assert_equal(flag_gems.fill(x, as_tensor), ref)
        assert flag_gems.fill_(x, value) is x
        assert_equal(x, ref)
        assert_equal(flag_gems.fill_(x, as_tensor), ref)


@pytest.mark.parametrize("value", [float("inf"), -float("inf"), float("nan"), 1e300, 1e-300])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_special_values(dtype, value):
    if dtype is torch.float32 and value == 1e300:
        pytest.skip("torch refuses it; see below")
    x = values((5,), dtype)
    assert_equal(flag_gems.fill(x, value), torch.fill(to_reference(x), value), equal_nan=True)


@pytest.mark.parametrize(
    ("dtype", "value"),
    [(torch.int8, 300), (torch.uint8, -256), (torch.int32, float("nan")), (torch.int32, 1j)],
)
def test_what_the_dtype_cannot_hold_is_torchs(dtype, value):
    x = values((5,), dtype)
    with pytest.raises((RuntimeError, TypeError)) as expected:
        torch.fill(x.clone(), value)
    with pytest.raises(type(expected.value)):
        flag_gems.fill_(x, value)


def test_views_are_filled_and_nothing_else():
    base = values((6, 8), torch.float32)
    ref = to_reference(base)
    for view in (lambda t: t[::2, 1::3], lambda t: t.t()[2:5], lambda t: t[3]):
        flag_gems.fill_(view(base), 9)
        view(ref).fill_(9)
        assert_equal(base, ref)


def test_elements_that_share_memory():
    x = values((3, 1), torch.float32)
    flag_gems.fill_(x.expand(3, 4), 7)
    assert x.flatten().tolist() == [7, 7, 7]


def test_unsigned_integers_wrap():
    assert flag_gems.fill(values((2,), torch.uint8), -1).tolist() == [255, 255]


@pytest.mark.parametrize("dtype", [torch.float32, torch.complex64])
def test_zero(dtype):
    x = torch.ones(4, 3, dtype=dtype, device=flag_gems.device).t()
    assert flag_gems.zero_(x) is x
    assert not x.any()


def test_through_torch():
    x = values((6, 5), torch.float32)
    with flag_gems.use_gems(include=["fill"]) as gems:
        x.fill_(2)
        x[1].zero_()
        made = torch.full_like(x, 3)
    assert gems.calls["fill_.Scalar"] >= 1
    assert gems.calls["zero_"] == 1
    assert x.sum().item() == 50
    assert made.sum().item() == 90


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64])
def test_on_torchs_samples(dtype):
    samples.check("fill", dtype, ["fill"], references=True)
