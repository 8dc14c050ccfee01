# SPDX-License-Identifier: Apache-2.0
"""Which elements a reduction joins: kept and reduced dimensions, at most two of each."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import torch

from flag_gems.runtime import device, interpreted, torch_device_fn
from flag_gems.runtime.geometry import Grid2, grid2
from flag_gems.runtime.tiling import TILE, next_power_of_2


def _programs() -> int:
    """Programs a reduction is split into when it keeps few elements: enough to fill the device.

    On a GPU several waves of programs, since some multiprocessors are farther from memory than
    others and take less of an even share in the same time; on a CPU some for each thread.
    """
    if interpreted:
        return 1
    properties = getattr(torch_device_fn, "get_device_properties", None)
    if properties is None:
        return 4 * torch.get_num_threads()
    return 16 * int(getattr(properties(), "multi_processor_count", 128))


_PROGRAMS = functools.cache(_programs)

_LEAST_CHUNK = 8192
"""Elements below which a program's own cost outweighs what splitting gains."""

_MOST_CHUNK = 1 << 30
"""Elements that a program counts in 32 bits."""


@dataclass(frozen=True)
class Plan:
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
    def grid(self) -> tuple[int, int]:
        return -(-self.kept.size // self.block_kept), self.splits

    @property
    def kept_even(self) -> bool:
        """Whether every tile of kept elements is full."""
        return self.kept.size % self.block_kept == 0

    @property
    def even(self) -> bool:
        """Whether every tile of reduced elements is full."""
        return self.reduced.size % self.block_reduced == 0

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


def plan(source: torch.Tensor, dims: tuple[int, ...]) -> Plan:
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


def _tiled(source: torch.Tensor, kept: Grid2, reduced: Grid2) -> Plan:
    kept_width = next_power_of_2(kept.size)
    reduced_width = next_power_of_2(reduced.size)
    step = reduced.inner[0] if reduced.inner_size > 1 else reduced.outer[0]
    if step == 1 or kept.size == 1:
        block_reduced = min(reduced_width, TILE)
        block_kept = min(kept_width, max(TILE // block_reduced, 1))
    elif device.name == "cpu" and not interpreted:
        # Sums that lie in memory as their elements do are added to as whole vectors.
        block_kept, block_reduced = min(kept_width, 1024), 1
    else:
        block_kept = min(kept_width, TILE if interpreted else 128)
        block_reduced = min(reduced_width, max(TILE // block_kept, 1))
    tiles = -(-kept.size // block_kept)
    blocks = -(-reduced.size // block_reduced)
    # At least two elements each, so that the second pass is always the smaller one.
    least = max(_LEAST_CHUNK // block_kept, block_reduced, 2)
    worth = max(reduced.size // least, 1)
    chunk = -(-blocks // min(max(_PROGRAMS() // tiles, 1), worth)) * block_reduced
    chunk = min(chunk, _MOST_CHUNK)
    # From the chunk back to the number of programs, so that none is left without an element.
    splits = -(-reduced.size // chunk)
    return Plan(source, kept, reduced, block_kept, block_reduced, chunk, splits)
