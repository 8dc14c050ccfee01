# SPDX-License-Identifier: Apache-2.0
"""Which elements of a tensor one chunk of a loop nest works on.

A chunk covers a box of the tensor. Its lanes are numbered once for the whole nest; for each
dimension a place knows the scalar index where the box begins and, lane by lane, the offset from it.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

from triton_cpu.llvm.emit import Value

Lanes = tuple[tuple[int, ...], ...]
"""For each dimension, the offset of every lane."""


class Place:
    """``base`` holds one i64 scalar a dimension. Width 1 stands for scalars."""

    __slots__ = ("base", "cache", "lanes", "width")

    def __init__(
        self, base: Sequence[Value], lanes: Lanes, width: int, cache: dict[object, Value]
    ) -> None:
        self.base = tuple(base)
        self.lanes = lanes
        self.width = width
        self.cache = cache


def scalar_place(base: Sequence[Value], cache: dict[object, Value] | None = None) -> Place:
    """One element."""
    return Place(base, ((0,),) * len(base), 1, {} if cache is None else cache)


@functools.cache
def box_extents(shape: tuple[int, ...], order: tuple[int, ...], width: int) -> tuple[int, ...]:
    """The box of at most ``width`` lanes that fills the dimensions of ``order`` from its end."""
    extents = [1] * len(shape)
    for dimension in reversed(order):
        extents[dimension] = min(shape[dimension], width)
        width //= extents[dimension]
        if width <= 1:
            break
    return tuple(extents)


@functools.cache
def box_lanes(extents: tuple[int, ...], order: tuple[int, ...]) -> Lanes:
    """The lanes of a box, the last dimension of ``order`` running fastest."""
    width = 1
    for extent in extents:
        width *= extent
    lanes: list[tuple[int, ...]] = [()] * len(extents)
    repeat = 1
    for dimension in reversed(order):
        extent = extents[dimension]
        lanes[dimension] = tuple((lane // repeat) % extent for lane in range(width))
        repeat *= extent
    return tuple(lanes)


@functools.cache
def restrict(lanes: Lanes, dimensions: frozenset[int]) -> tuple[Lanes, int, tuple[int, ...] | None]:
    """The distinct lanes of what depends on some dimensions only.

    Returns those lanes, their number, and for each lane of the whole the one to take (None where
    they are the same).
    """
    kept = [part if d in dimensions else None for d, part in enumerate(lanes)]
    width = len(lanes[0]) if lanes else 1
    index: dict[tuple[int, ...], int] = {}
    take = []
    for lane in range(width):
        key = tuple(part[lane] if part else 0 for part in kept)
        take.append(index.setdefault(key, len(index)))
    small = tuple(tuple(key[d] for key in index) for d in range(len(lanes)))
    expand = None if take == list(range(width)) and len(index) == width else tuple(take)
    return small, len(index), expand


@functools.cache
def offsets(lanes: Lanes, strides: tuple[int, ...]) -> tuple[int, ...]:
    """The memory offset of each lane, in elements."""
    width = len(lanes[0]) if lanes else 1
    return tuple(
        sum(part[lane] * stride for part, stride in zip(lanes, strides, strict=True))
        for lane in range(width)
    )
