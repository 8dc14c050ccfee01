# SPDX-License-Identifier: Apache-2.0
"""Which elements a reduction joins: kept and reduced dimensions, at most two of each."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from flag_gems.runtime import interpreted
from flag_gems.runtime.geometry import Grid2, grid2
from flag_gems.runtime.tiling import TILE, next_power_of_2

_PROGRAMS = 1 if interpreted else 512
"""Programs a reduction is split into when it keeps few elements: enough to fill a large GPU."""

_LEAST_CHUNK = 8192
"""Elements below which a program's own cost outweighs what splitting gains."""


@dataclass(frozen=True)
class Reduction:
    """A reduction ready for a kernel: the source and how it is walked."""

    source: torch.Tensor
    kept: Grid2
    reduced: Grid2
    block_kept: int
    block_reduced: int
    chunk: int
    """Reduced elements of one program, a multiple of ``block_reduced``."""
    splits: int
    """Programs that share the reduced elements of a tile; a second pass joins them."""

    @property
    def numbers(self) -> tuple[int, ...]:
        """Sizes and strides in the order of the kernels' arguments."""
        return (
            self.kept.size,
            self.kept.inner_size,
            self.kept.outer[0],
            self.kept.inner[0],
            self.reduced.size,
            self.reduced.inner_size,
            self.reduced.outer[0],
            self.reduced.inner[0],
            self.chunk,
        )


def plan(source: torch.Tensor, dims: tuple[int, ...]) -> Reduction:
    """The reduction of a non-empty ``source`` over ``dims`` (in range, none twice).

    A source whose strides need more than two dimensions in a group is copied first.
    """
    kept_dims = tuple(dim for dim in range(source.dim()) if dim not in dims)
    kept, reduced = _group(source, kept_dims), _group(source, dims)
    if kept is None or reduced is None:
        source = source.permute(*kept_dims, *dims).contiguous()
        count = len(kept_dims)
        kept = _group(source, tuple(range(count)))
        reduced = _group(source, tuple(range(count, source.dim())))
    assert kept is not None
    assert reduced is not None
    return _tiled(source, kept, reduced)


def _group(tensor: torch.Tensor, dims: tuple[int, ...]) -> Grid2 | None:
    return grid2([tensor.shape[dim] for dim in dims], [[tensor.stride(dim) for dim in dims]])


def _tiled(source: torch.Tensor, kept: Grid2, reduced: Grid2) -> Reduction:
    kept_width = next_power_of_2(kept.size)
    reduced_width = next_power_of_2(reduced.size)
    step = reduced.inner[0] if reduced.inner_size > 1 else reduced.outer[0]
    if step == 1 or kept.size == 1:
        block_reduced = min(reduced_width, TILE)
        block_kept = min(kept_width, max(TILE // block_reduced, 1))
    else:
        block_kept = min(kept_width, TILE if interpreted else 128)
        block_reduced = min(reduced_width, max(TILE // block_kept, 1))
    tiles = -(-kept.size // block_kept)
    blocks = -(-reduced.size // block_reduced)
    # At least two elements each, so that the second pass is always the smaller one.
    least = max(_LEAST_CHUNK // block_kept, block_reduced, 2)
    worth = max(reduced.size // least, 1)
    chunk = -(-blocks // min(max(_PROGRAMS // tiles, 1), worth)) * block_reduced
    # From the chunk back to the number of programs, so that none is left without an element.
    splits = -(-reduced.size // chunk)
    return Reduction(source, kept, reduced, block_kept, block_reduced, chunk, splits)
