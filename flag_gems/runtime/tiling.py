# SPDX-License-Identifier: Apache-2.0
"""How much one program of a kernel takes on: the device's answer, not the operator's.

A GPU wants tiles that fit its registers. Triton's interpreter pays for each operation of each
program and next to nothing for an element, so it wants few programs with large tiles.
"""

from __future__ import annotations

from flag_gems.runtime import device, interpreted

TILE: int = 1 << 16 if interpreted else 1 << 12
"""Elements that one program holds of one tensor."""

ROW: int = 1 << 16 if interpreted else 1 << 15
"""Longest contiguous row that one program holds whole."""

_WARP_ELEMENTS = 512
"""Elements a warp of 32 lanes works on at ease: 16 each, two 128-bit loads of a half type."""


def next_power_of_2(value: int) -> int:
    """The smallest power of two that is not below ``value`` (at least 1)."""
    return 1 << max(value - 1, 0).bit_length()


def warps(elements: int) -> int:
    """``num_warps`` for a tile of so many elements: a power of two from 1 to 16."""
    return min(max(next_power_of_2(elements) // _WARP_ELEMENTS, 1), 16)


def row_tile(rows: int, columns: int, contiguous: bool) -> tuple[int, int]:
    """Tile (rows, columns) for work along rows: whole rows where they fit.

    ``contiguous`` says that a row's elements are neighbours in memory. If not, the neighbours are
    taken to be the same column of the next row, and the tile is kept wide in that direction.
    """
    height = next_power_of_2(rows)
    width = next_power_of_2(columns)
    if contiguous:
        if width <= ROW:
            return min(height, max(TILE // width, 1)), width
        return 1, TILE
    height = min(height, max(TILE // width, 64))
    return height, min(width, max(TILE // height, 1))


def stream_tile(
    rows: int, columns: int, element_size: int, contiguous: bool = True
) -> tuple[int, int, int]:
    """Tile and warps (rows, columns, warps) of a kernel that is as fast as it reads and writes.

    Two 128-bit loads a lane hide the latency of memory, and a warp or two for a short row need
    little exchange through shared memory; on an H200 nothing else was faster for rows of 1024 to
    16384 elements.
    """
    if device.name == "cpu" or interpreted or not contiguous:
        block_m, block_n = row_tile(rows, columns, contiguous)
        return block_m, block_n, warps(block_m * block_n)
    width = next_power_of_2(columns)
    if width > ROW:
        return 1, TILE, 8
    lanes = 2 * 16 // element_size * 32
    height = min(max(2048 // width, 1), next_power_of_2(rows))
    return height, width, min(max(height * width // lanes, 1), 16)
