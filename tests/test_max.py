# SPDX-License-Identifier: Apache-2.0
"""Accuracy of max, min, amax and amin: values, with or without their places."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import flag_gems
from flag_gems.testing import assert_equal, options, samples, to_reference
from flag_gems.testing.drawing import drawn, shapes
from flag_gems.testing.operands import FLOATING, INTEGRAL, values

SHAPES = [(37,), (7, 130)] if options.quick else [(37,), (7, 130), (3, 5, 33), (50_021,)]
BOTH = [pytest.param(name, marks=getattr(pytest.mark, name)) for name in ("max", "min")]
ALONG = [pytest.param(name, marks=getattr(pytest.mark, name)) for name in ("amax", "amin")]


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize("dtype", [*FLOATING, torch.float64, *INTEGRAL, torch.int8, torch.bool])
def test_values_and_places(name, dtype):
    for shape in SHAPES:
        x = values(shape, dtype)
        assert_equal(getattr(flag_gems, name)(x), getattr(torch, name)(to_reference(x)))
        for dim in (0, -1):
            res = getattr(flag_gems, name)(x, dim)
            ref = getattr(torch, name)(to_reference(x), dim)
            assert_equal(res.values, ref.values)
            assert_equal(res.indices, ref.indices)


@pytest.mark.parametrize("name", ALONG)
@drawn
@given(shape=shapes.filter(bool), data=st.data())
def test_along_dims_of_permuted_input(name, shape, data):
    order = data.draw(st.permutations(range(len(shape))))
    dims = data.draw(st.lists(st.integers(0, len(shape) - 1), unique=True, max_size=len(shape)))
    keepdim = data.draw(st.booleans())
    x = values(shape, torch.float32).permute(order)
    ref = getattr(torch, name)(to_reference(x), dims, keepdim)
    assert_equal(getattr(flag_gems, name)(x, dims, keepdim), ref)


@pytest.mark.max
@pytest.mark.min
@pytest.mark.amax
def test_nan_infinities_and_equals():
    inf, nan = float("inf"), float("nan")
    x = torch.tensor(
        [[1, 3, 3, 0], [inf, nan, 0, nan], [-inf] * 4, [nan] * 4, [-3, -2, -2, -inf]],
        device=flag_gems.device,
    )
    for name in ("max", "min"):
        res, ref = getattr(flag_gems, name)(x, 1), getattr(torch, name)(x, 1)
        assert_equal(res.values, ref.values, equal_nan=True)
    assert flag_gems.max(x, 1).indices.tolist() == [1, 1, 0, 0, 1]
    assert flag_gems.min(x, 1).indices.tolist() == [3, 1, 0, 0, 3]
    assert flag_gems.amax(x).isnan()


@pytest.mark.max
@pytest.mark.min
@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int32, torch.int64])
def test_integer_extremes(dtype):
    least, most = torch.iinfo(dtype).min, torch.iinfo(dtype).max
    x = torch.tensor([least, most, least], dtype=dtype, device=flag_gems.device)
    assert flag_gems.max(x).item() == most
    assert flag_gems.min(x).item() == least
    assert flag_gems.max(x[:1]).item() == least
    assert flag_gems.min(x[1:2], 0).values.item() == most


@pytest.mark.max
@pytest.mark.amax
@pytest.mark.parametrize(
    "call",
    [
        lambda x: flag_gems.max(x[:0]),
        lambda x: flag_gems.max(x[:0], 0),
        lambda x: flag_gems.max(x, 2),
        lambda x: flag_gems.amax(x[:0], 0),
        lambda x: flag_gems.amax(x, [0, 0]),
    ],
)
def test_what_torch_refuses_is_its_error(call):
    with pytest.raises((RuntimeError, IndexError)):
        call(values((3, 4), torch.float32))


@pytest.mark.amax
@pytest.mark.amin
def test_out():
    x = values((6, 5), torch.float32)
    out = torch.empty(0, device=x.device)
    assert flag_gems.amax_out(x, 1, out=out) is out
    assert_equal(out, to_reference(x).amax(1))
    spread = torch.empty(12, device=x.device)[::2]
    assert_equal(flag_gems.amin_out(x, 1, out=spread), to_reference(x).amin(1))


@pytest.mark.max
@pytest.mark.min
@pytest.mark.amax
@pytest.mark.amin
def test_through_torch():
    x = values((6, 40), torch.float32)
    with flag_gems.use_gems() as gems:
        found = x.max(1)
        x.min()
        x.amax(0)
        x.amin((0, 1))
    assert {"max.dim", "min", "amax", "amin"} <= set(gems.calls)
    assert_equal(found.indices, to_reference(x).max(1).indices)


@pytest.mark.parametrize("name", ALONG)
def test_on_torchs_samples(name):
    samples.check(name, torch.float32, [name])


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize("variant", ["reduction_with_dim", "reduction_no_dim"])
def test_with_places_on_torchs_samples(name, variant):
    samples.check(name, torch.float32, [name], variant)
