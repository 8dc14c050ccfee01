# SPDX-License-Identifier: Apache-2.0
"""Accuracy of zeros, ones and full, of a size and like a tensor."""

from __future__ import annotations

import pytest
import torch

import flag_gems
from flag_gems.testing import assert_equal
from flag_gems.testing.operands import FLOATING, INTEGRAL, values

NAMES = [pytest.param(name, marks=getattr(pytest.mark, name)) for name in ("zeros", "ones", "full")]
DTYPES = [None, *FLOATING, torch.float64, *INTEGRAL, torch.int8, torch.bool]


def _more(name):
    return (2.5,) if name == "full" else ()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_of_a_size(name, dtype):
    for size in ((7, 33), (), (0, 3), (20_011,)):
        res = getattr(flag_gems, name)(size, *_more(name), dtype=dtype, device=flag_gems.device)
        assert_equal(res.cpu(), getattr(torch, name)(size, *_more(name), dtype=dtype))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", [*FLOATING, *INTEGRAL, torch.bool])
def test_like_a_tensor(name, dtype):
    for x in (values((4, 6), dtype), values((4, 6), dtype).t(), values((4, 6), dtype)[:, ::2]):
        res = getattr(flag_gems, f"{name}_like")(x, *_more(name))
        ref = getattr(torch, f"{name}_like")(x, *_more(name))
        assert_equal(res, ref)
        assert res.stride() == ref.stride()
    wide = getattr(flag_gems, f"{name}_like")(x, *_more(name), dtype=torch.float64)
    assert wide.dtype is torch.float64


@pytest.mark.full
@pytest.mark.parametrize("value", [True, 7, 0.5, float("inf"), float("nan")])
def test_the_value_gives_the_dtype(value):
    res = flag_gems.full((3, 2), value, device=flag_gems.device)
    assert_equal(res, torch.full((3, 2), value, device=flag_gems.device), equal_nan=True)


@pytest.mark.zeros
def test_complex_zeros():
    res = flag_gems.zeros((3, 2), dtype=torch.complex64, device=flag_gems.device)
    assert_equal(res, torch.zeros((3, 2), dtype=torch.complex64, device=flag_gems.device))


@pytest.mark.zeros
@pytest.mark.full
def test_what_torch_refuses_is_its_error():
    with pytest.raises(RuntimeError):
        flag_gems.zeros((-1,), device=flag_gems.device)
    with pytest.raises(RuntimeError):
        flag_gems.full((2,), 300, dtype=torch.int8, device=flag_gems.device)


@pytest.mark.parametrize("name", NAMES)
def test_through_torch(name):
    x = values((4, 6), torch.float32)
    with flag_gems.use_gems(include=[name]) as gems:
        made = getattr(torch, name)((3, 2), *_more(name), device=x.device)
        like = getattr(torch, f"{name}_like")(x, *_more(name))
    assert gems.calls == {name: 1, f"{name}_like": 1}
    assert_equal(made, getattr(torch, name)((3, 2), *_more(name), device=x.device))
    assert_equal(like, getattr(torch, f"{name}_like")(x, *_more(name)))
