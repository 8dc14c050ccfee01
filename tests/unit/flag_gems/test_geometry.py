# SPDX-License-Identifier: Apache-2.0
"""Joined dimensions visit the same elements, and split reductions miss none."""

from __future__ import annotations

import itertools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import flag_gems
from flag_gems.runtime import geometry
from flag_gems.runtime.reductions import plan as reduction


def _offsets(sizes, strides):
    places = itertools.product(*(range(size) for size in sizes))
    return [sum(i * s for i, s in zip(place, strides, strict=True)) for place in places]


@settings(database=None, deadline=None, max_examples=50)
@given(st.lists(st.tuples(st.integers(1, 4), st.integers(0, 12), st.integers(0, 12)), max_size=4))
def test_coalesce_keeps_every_offset_in_order(dims):
    sizes = [size for size, _, _ in dims]
    strides = [[first for _, first, _ in dims], [second for _, _, second in dims]]
    joined, by_tensor = geometry.coalesce(sizes, strides)
    assert 1 not in joined
    for before, after in zip(strides, by_tensor, strict=True):
        assert _offsets(joined, after) == _offsets(sizes, before)


def test_contiguous_tensors_join_to_one_dimension():
    assert geometry.coalesce((2, 3, 4), [(12, 4, 1)]) == ((24,), [(1,)])
    assert geometry.grid2((2, 1, 3), [(3, 3, 1)]) == geometry.Grid2(6, 1, (1,), (0,))
    assert geometry.grid2((2, 2, 2), [(64, 16, 1)]) is None


@pytest.mark.parametrize(
    ("shape", "order", "dense"),
    [((2, 3), (1, 0), True), ((2, 1, 3), (2, 1, 0), True), ((0, 3), (0, 1), True)],
)
def test_dense_tensors_in_any_order(shape, order, dense):
    assert geometry.is_dense(torch.empty(shape).permute(order)) is dense


def test_gaps_and_overlaps_are_not_dense():
    assert not geometry.is_dense(torch.empty(4, 4)[:, ::2])
    assert not geometry.is_dense(torch.empty(1).expand(3))


@pytest.fixture
def many_programs(monkeypatch):
    """Splits even short reductions, as a large device does with long ones."""
    monkeypatch.setattr(reduction, "_PROGRAMS", lambda: 16)
    monkeypatch.setattr(reduction, "_LEAST_CHUNK", 64)
    monkeypatch.setattr(reduction, "TILE", 64)


@pytest.mark.parametrize("length", [31, 32, 33, 100, 513, 1000])
def test_split_reductions_agree_with_torch(many_programs, length):
    x = torch.randint(-99, 99, (2, length), generator=torch.Generator().manual_seed(length))
    x = x.to(flag_gems.device)
    plans = [reduction.plan(x, dims) for dims in ((0, 1), (1,))]
    for plan in plans:
        assert (plan.splits - 1) * plan.chunk < plan.reduced.size <= plan.splits * plan.chunk
    if length == 1000:
        assert all(plan.splits > 1 for plan in plans)
    for dim in (None, 1, 0):
        assert torch.equal(flag_gems.argmax(x, dim), torch.argmax(x, dim))
        assert torch.equal(flag_gems.sum(x, dim), x.sum(dim) if dim is not None else x.sum())


def test_split_argmax_finds_the_first_nan(many_programs):
    x = torch.zeros(1000, device=flag_gems.device)
    x[[700, 350]] = float("nan")
    x[10] = float("inf")
    assert flag_gems.argmax(x).item() == 350
