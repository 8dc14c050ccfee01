# SPDX-License-Identifier: Apache-2.0
"""Lanes of a chunk: every element is visited once, and fewer lanes still say the same."""

import itertools
import math

from hypothesis import given
from hypothesis import strategies as st

from triton_cpu.codegen.place import box_extents, box_lanes, offsets, restrict

SHAPES = st.lists(st.sampled_from([1, 2, 4, 8, 16]), min_size=1, max_size=4).map(tuple)
WIDTHS = st.sampled_from([1, 2, 8, 32, 64])


@st.composite
def boxes(draw: st.DrawFn) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    shape = draw(SHAPES)
    order = tuple(draw(st.permutations(range(len(shape)))))
    return shape, order, box_extents(shape, order, draw(WIDTHS))


@given(boxes())
def test_boxes_tile_the_tensor(
    box: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]],
) -> None:
    shape, order, extents = box
    lanes = list(zip(*box_lanes(extents, order), strict=True))
    assert len(lanes) == math.prod(extents)
    starts = itertools.product(
        *(range(0, size, extent) for size, extent in zip(shape, extents, strict=True))
    )
    seen = [
        tuple(a + b for a, b in zip(start, lane, strict=True)) for start in starts for lane in lanes
    ]
    assert sorted(seen) == list(itertools.product(*(range(size) for size in shape)))


@given(boxes(), st.sets(st.integers(0, 3)))
def test_restricted_lanes_expand_to_all(
    box: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]], kept: set[int]
) -> None:
    _, order, extents = box
    lanes = box_lanes(extents, order)
    dimensions = frozenset(d for d in kept if d < len(extents))
    small, width, expand = restrict(lanes, dimensions)
    assert width == math.prod(extents[d] for d in dimensions)
    take = expand or tuple(range(width))
    for d in dimensions:
        assert tuple(small[d][lane] for lane in take) == lanes[d]


@given(boxes())
def test_row_major_lanes_lie_next_to_each_other(
    box: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]],
) -> None:
    _, order, extents = box
    strides, count = [0] * len(extents), 1
    for d in reversed(order):
        strides[d] = count
        count *= extents[d]
    assert offsets(box_lanes(extents, order), tuple(strides)) == tuple(range(count))
