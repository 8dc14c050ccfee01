# SPDX-License-Identifier: Apache-2.0
"""Which dimensions a reduction takes, and the shapes that come of it."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from flag_gems.runtime.geometry import wrap_dim

Dims = int | Sequence[int] | None


def wrapped(dim: Dims, rank: int) -> tuple[int, ...] | None:
    """The dimensions in ascending order; all for None or an empty list.

    None where one is out of range or named twice.
    """
    given = (dim,) if isinstance(dim, int) else tuple(dim) if dim is not None else ()
    found = [wrap_dim(one, rank) for one in given]
    if None in found or len(set(found)) != len(found):
        return None
    if rank == 0:
        return ()
    return tuple(sorted(one for one in found if one is not None)) or tuple(range(rank))


def result_shape(shape: torch.Size, dims: tuple[int, ...], keepdim: bool) -> list[int]:
    """The shape of the result: without ``dims``, or with 1 in their place."""
    if keepdim:
        return [1 if index in dims else size for index, size in enumerate(shape)]
    return [size for index, size in enumerate(shape) if index not in dims]
