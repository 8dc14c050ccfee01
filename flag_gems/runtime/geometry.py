# SPDX-License-Identifier: Apache-2.0
"""Shapes and strides reduced to what a kernel has to loop over.

Strides and sizes are counted in elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

Strides = tuple[int, ...]


def coalesce(
    sizes: Sequence[int], strides: Sequence[Sequence[int]]
) -> tuple[tuple[int, ...], list[Strides]]:
    """Drops dimensions of size 1 and joins neighbours that every tensor steps through evenly.

    Args:
        sizes: shape common to all tensors.
        strides: for each tensor its stride in each dimension; 0 where it is broadcast.

    Returns:
        The joined sizes and, for each tensor, the joined strides; both empty for a single element.
    """
    merged_sizes: list[int] = []
    merged: list[list[int]] = [[] for _ in strides]
    for index, size in enumerate(sizes):
        if size == 1:
            continue
        if merged_sizes and all(
            own[-1] == given[index] * size for own, given in zip(merged, strides, strict=True)
        ):
            merged_sizes[-1] *= size
            for own, given in zip(merged, strides, strict=True):
                own[-1] = given[index]
        else:
            merged_sizes.append(size)
            for own, given in zip(merged, strides, strict=True):
                own.append(given[index])
    return tuple(merged_sizes), [tuple(own) for own in merged]


@dataclass(frozen=True)
class Grid2:
    """Up to two dimensions: element (i, j) of tensor t is at ``i * outer[t] + j * inner[t]``."""

    outer_size: int
    inner_size: int
    outer: Strides
    inner: Strides

    @property
    def size(self) -> int:
        return self.outer_size * self.inner_size


def grid2(sizes: Sequence[int], strides: Sequence[Sequence[int]]) -> Grid2 | None:
    """The dimensions as a :class:`Grid2`, or None when more than two remain after joining."""
    joined, by_tensor = coalesce(sizes, strides)
    if len(joined) > 2:
        return None
    missing = 2 - len(joined)
    padded = (1,) * missing + joined
    steps = [(0,) * missing + own for own in by_tensor]
    # A lone dimension becomes the outer one: the kernel's division by inner_size 1 then folds away.
    if missing == 1:
        padded = (padded[1], 1)
        steps = [(own[1], 0) for own in steps]
    return Grid2(padded[0], padded[1], tuple(s[0] for s in steps), tuple(s[1] for s in steps))


def wrap_dim(dim: int, rank: int) -> int | None:
    """``dim`` counted from the front, or None when a tensor of this rank has no such dimension."""
    span = max(rank, 1)
    return dim % span if -span <= dim < span else None


def is_dense(tensor: torch.Tensor) -> bool:
    """Whether the elements fill one stretch of memory without gap or overlap, in any order."""
    if tensor.is_contiguous():
        return True
    expected = 1
    for stride, size in sorted(zip(tensor.stride(), tensor.shape, strict=True)):
        if size == 1:
            continue
        if stride != expected:
            return False
        expected *= size
    return True
