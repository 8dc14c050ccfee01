# SPDX-License-Identifier: Apache-2.0
"""Tiles of the kernels that normalise rows, whose whole time is that of reading and writing."""

from __future__ import annotations

from flag_gems.runtime import device
from flag_gems.runtime.tiling import next_power_of_2, row_tile, warps

_LONGEST_ROW = 1 << 15
"""Elements of a row that a program holds in registers, 32 for each of 1024 threads."""


def forward(rows: int, columns: int, element_size: int) -> tuple[int, int, int]:
    """(rows, columns, warps) of a program that reads contiguous rows and writes them back."""
    if device.name == "cpu":
        block_m, block_n = row_tile(rows, columns, contiguous=True)
        return block_m, block_n, warps(block_m * block_n)
    width = next_power_of_2(columns)
    if width > _LONGEST_ROW:
        return 1, 4096, 8
    # Two 128-bit loads a lane hide the latency of memory; a warp for each short row needs no
    # exchange through shared memory.
    lanes = 2 * 16 // element_size * 32
    height = min(max(2048 // width, 1), next_power_of_2(rows))
    return height, width, min(max(height * width // lanes, 1), 16)
