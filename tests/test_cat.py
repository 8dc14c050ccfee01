# SPDX-License-Identifier: Apache-2.0
"""Accuracy of cat."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import flag_gems
from flag_gems.testing import assert_equal, samples, to_reference
from flag_gems.testing.drawing import drawn, shapes
from flag_gems.testing.operands import FLOATING, INTEGRAL, values

pytestmark = pytest.mark.cat


@pytest.mark.parametrize("dtype", [*FLOATING, *INTEGRAL, torch.bool, torch.complex64])
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_cat(dtype, dim):
    parts = [values((4, 6, 5), torch.float32).to(dtype) for _ in range(3)]
    parts[1] = parts[1].transpose(0, 2).contiguous().transpose(0, 2)
    parts[2] = parts[2].narrow(dim, 1, 2)
    assert_equal(flag_gems.cat(parts, dim), torch.cat([to_reference(x) for x in parts], dim))


@drawn
@given(shape=shapes.filter(bool), data=st.data())
def test_sizes_and_dims(shape, data):
    dim = data.draw(st.integers(-len(shape), len(shape) - 1))
    lengths = data.draw(st.lists(st.integers(0, 5), min_size=1, max_size=5))
    parts = []
    for length in lengths:
        size = list(shape)
        size[dim] = length
        parts.append(values(tuple(size), torch.float32))
    assert_equal(flag_gems.cat(parts, dim), torch.cat(parts, dim))


def test_dtypes_are_promoted():
    parts = [values((3, 2), dtype) for dtype in (torch.uint8, torch.float16, torch.int64)]
    assert_equal(flag_gems.cat(parts), torch.cat(parts))


def test_empty_vectors_count_for_nothing():
    x, nothing = values((3, 2), torch.float32), values((0,), torch.float32)
    assert_equal(flag_gems.cat([nothing, x, nothing], 1), x)


def test_one_tensor_is_copied():
    x = values((3, 2), torch.float32)
    res = flag_gems.cat([x])
    assert_equal(res, x)
    assert res.data_ptr() != x.data_ptr()


def test_out():
    parts = [values((3, 2), torch.float32), values((1, 2), torch.float32)]
    out = torch.empty(0, dtype=torch.float64, device=flag_gems.device)
    assert flag_gems.cat_out(parts, out=out) is out
    assert_equal(out, torch.cat(parts).double())


@pytest.mark.parametrize(
    "call",
    [
        lambda x: flag_gems.cat([]),
        lambda x: flag_gems.cat([x, x[:, :1]]),
        lambda x: flag_gems.cat([x, x], 2),
        lambda x: flag_gems.cat([x, x[0]]),
        lambda x: flag_gems.cat_out([x, x], out=x),
    ],
)
def test_what_torch_refuses_is_its_error(call):
    with pytest.raises((RuntimeError, IndexError, ValueError)):
        call(values((3, 2), torch.float32))


def test_on_torchs_samples():
    samples.check("cat", torch.float32, ["cat"])
