# SPDX-License-Identifier: Apache-2.0
"""How element-wise operators walk their tensors, and how a new result lies in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from flag_gems.runtime.geometry import Strides, coalesce

_DIMS = 4
"""Dimensions of the tiled and the indexed kernel; more are looped over on the host."""


@dataclass(frozen=True)
class Walk:
    """Sizes, slowest first, and for each tensor its strides in elements."""

    sizes: tuple[int, ...]
    strides: tuple[Strides, ...]
    beyond: tuple[int, ...] = ()
    """Sizes of dimensions in front of these four."""
    beyond_strides: tuple[Strides, ...] = ()


def walk(shape: Sequence[int], strides: Sequence[Strides]) -> Walk | None:
    """The walk through tensors of one shape, or None where all are one dense row (or one element).

    The last of ``strides`` is the result's: the walk runs in the order in which it lies. The last
    two of the four dimensions are the tile: the result's fastest, and before it the fastest of an
    operand that runs the other way.
    """
    target = strides[-1]
    order = sorted(range(len(shape)), key=lambda dim: (-target[dim], dim))
    sizes, joined = coalesce(
        [shape[dim] for dim in order], [[own[dim] for dim in order] for own in strides]
    )
    if all(own in ((), (1,), (0,)) for own in joined) and joined[-1] in ((), (1,)):
        return None
    rank = len(sizes)
    dims = list(range(rank))
    crossing = [dim for dim in dims[:-1] if any(own[dim] == 1 for own in joined)]
    if crossing:
        # The longest of them; the others keep their places among the outer dimensions.
        chosen = max(crossing, key=lambda dim: sizes[dim])
        dims = [dim for dim in dims[:-1] if dim != chosen] + [chosen, dims[-1]]
    outer = len(dims) - _DIMS if rank > _DIMS else 0
    pad = max(_DIMS - rank, 0)
    return Walk(
        sizes=(1,) * pad + tuple(sizes[dim] for dim in dims[outer:]),
        strides=tuple((0,) * pad + tuple(own[dim] for dim in dims[outer:]) for own in joined),
        beyond=tuple(sizes[dim] for dim in dims[:outer]),
        beyond_strides=tuple(tuple(own[dim] for dim in dims[:outer]) for own in joined),
    )


def result_strides(shape: Sequence[int], tensors: Sequence[torch.Tensor]) -> Strides:
    """Strides of a new result as torch's TensorIterator chooses them.

    Dimensions are sorted by the operands' strides, those of the first operand first; where it does
    not tell two apart the next one decides.

    Args:
        tensors: operands expanded to ``shape``; stride 0 says nothing about the order.
    """
    rank = len(shape)
    operands = [tensor.stride() for tensor in tensors]

    def compare(one: int, other: int) -> int:
        for strides in operands:
            if strides[one] == 0 or strides[other] == 0:
                continue
            if strides[one] != strides[other]:
                return 1 if strides[one] > strides[other] else -1
            if shape[one] > shape[other]:
                return 1
        return 0

    # An insertion sort, fastest first, as the comparison is not transitive.
    order = list(range(rank - 1, -1, -1))
    for position in range(1, rank):
        moved = position
        for before in range(position - 1, -1, -1):
            said = compare(order[before], order[moved])
            if said > 0:
                order[before], order[moved] = order[moved], order[before]
                moved = before
            elif said < 0:
                break
    strides = [0] * rank
    step = 1
    for dim in order:
        strides[dim] = step
        step *= max(shape[dim], 1)
    return tuple(strides)
