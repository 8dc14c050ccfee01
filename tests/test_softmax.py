# SPDX-License-Identifier: Apache-2.0
"""Accuracy of softmax, called directly and through torch, and of its backward."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import flag_gems
from flag_gems.testing import assert_close, options, to_reference
from flag_gems.testing.drawing import drawn, shapes
from flag_gems.testing.operands import FLOATING, INTEGRAL, values

SHAPES = [(37,), (5, 33), (3, 7, 17)]
if not options.quick:
    SHAPES += [(1, 1), (33, 40), (4, 3, 2, 5)]


@pytest.mark.softmax
@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("dim", [-1, 0])
@pytest.mark.parametrize("shape", SHAPES)
def test_softmax(shape, dim, dtype):
    x = values(shape, dtype)
    ref = torch.softmax(to_reference(x, upcast=True), dim)
    assert_close(flag_gems.softmax(x, dim), ref, dtype)


@pytest.mark.softmax
@pytest.mark.parametrize("dtype", FLOATING)
def test_softmax_of_long_rows(dtype):
    x = values((2, 4099), dtype)
    ref = torch.softmax(to_reference(x, upcast=True), -1)
    assert_close(flag_gems.softmax(x, -1), ref, dtype, atol=1e-7)


@pytest.mark.softmax
@drawn
@given(shape=shapes.filter(bool), data=st.data())
def test_softmax_of_permuted_input(shape, data):
    order = data.draw(st.permutations(range(len(shape))))
    dim = data.draw(st.integers(-len(shape), len(shape) - 1))
    x = values(shape, torch.float32).permute(order)
    ref = torch.softmax(to_reference(x, upcast=True), dim)
    assert_close(flag_gems.softmax(x, dim), ref, torch.float32)


@pytest.mark.softmax
@pytest.mark.parametrize("dtype", FLOATING)
def test_softmax_through_torch(dtype):
    x = values((9, 65), dtype)
    with flag_gems.use_gems(include=["softmax"]) as gems:
        res = torch.softmax(x, dim=-1)
    assert gems.calls["_softmax"] == 1
    assert_close(res, torch.softmax(to_reference(x, upcast=True), -1), dtype)


@pytest.mark.softmax
def test_softmax_to_another_dtype():
    x = values((6, 20), torch.float16)
    ref = torch.softmax(to_reference(x, upcast=True), -1)
    assert_close(flag_gems.softmax(x, -1, torch.float32), ref, torch.float32)


@pytest.mark.softmax
@pytest.mark.parametrize("dtype", [*INTEGRAL, torch.int8, torch.int16, torch.bool])
@pytest.mark.parametrize(("shape", "dim"), [((3, 5), 1), ((2051, 64), 0)])
def test_softmax_of_integers(shape, dim, dtype):
    x = values(shape, dtype)
    if dtype.is_signed:
        # All far below 0, so that a lane without an element would outweigh them.
        x = -x.abs() - 20
    ref = torch.softmax(x.cpu(), dim, torch.float64)
    assert_close(flag_gems.softmax(x, dim, torch.float32), ref, torch.float32, atol=1e-7)


@pytest.mark.softmax
def test_softmax_of_extreme_values():
    inf, nan = float("inf"), float("nan")
    rows = [[1e4, -1e4, 0.0], [-inf, 0.0, 1.0], [-inf] * 3, [inf, 0.0, 0.0], [nan, 0.0, 0.0]]
    x = torch.tensor(rows, device=flag_gems.device)
    ref = torch.softmax(to_reference(x, upcast=True), -1)
    assert_close(flag_gems.softmax(x, -1), ref, x.dtype, equal_nan=True)


@pytest.mark.softmax
@pytest.mark.parametrize("shape", [(0, 4), (4, 0), ()])
def test_softmax_without_rows_columns_or_dimensions(shape):
    x = values(shape, torch.float32)
    ref = torch.softmax(to_reference(x, upcast=True), -1)
    assert_close(flag_gems.softmax(x, -1), ref, torch.float32)


@pytest.mark.softmax
@pytest.mark.softmax_backward
@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("dim", [0, 1, 2])
def test_softmax_backward_through_torch(dim, dtype):
    x = values((5, 6, 33), dtype).requires_grad_()
    grad = values((33, 6, 5), dtype).permute(2, 1, 0)
    with flag_gems.use_gems(include=["softmax", "softmax_backward"]) as gems:
        torch.softmax(x, dim).backward(grad)
    assert gems.calls == {"_softmax": 1, "_softmax_backward_data": 1}
    ref = to_reference(x, upcast=True)
    torch.softmax(ref, dim).backward(to_reference(grad, upcast=True))
    assert_close(x.grad, ref.grad, dtype, reduce_dim=x.shape[dim], atol=1e-3)


@pytest.mark.softmax
@pytest.mark.softmax_backward
@pytest.mark.parametrize("shape", [(3, 33), (0, 3), (3, 0), ()])
def test_softmax_backward_after_softmax(shape):
    out = flag_gems.softmax(values(shape, torch.float32), -1)
    grad = values(shape, torch.float32)
    wide, slope = to_reference(out, upcast=True), to_reference(grad, upcast=True)
    ref = wide * (slope - (wide * slope).sum(-1, keepdim=True))
    res = flag_gems.softmax_backward(grad, out, -1, torch.float32)
    assert_close(res, ref, torch.float32)
