# SPDX-License-Identifier: Apache-2.0
"""Decisions that the C++ operators ask for once a geometry and then keep: they are made here only.

Questions and answers are texts (``triton_jit::call_python``).
"""

from __future__ import annotations

import torch

_DTYPES = {
    "Half": torch.float16,
    "BFloat16": torch.bfloat16,
    "Float": torch.float32,
    "Double": torch.float64,
}
"""By the names that C++ prints."""


def product(dtype: str, layout: str, batches: str, m: str, n: str, k: str) -> str:
    """How a matrix product is tiled: m n k warps stages group splits precision.

    C++ has no tensor descriptors: where one is wanted, the same tile is read through pointers.
    """
    from flag_gems.ops.matmul_plan import Problem, tiling

    tile = tiling(Problem(int(batches), int(m), int(n), int(k), _DTYPES[dtype], layout))
    stages = min(tile.num_stages, 3) if tile.descriptor else tile.num_stages
    numbers = (tile.m, tile.n, tile.k, tile.num_warps, stages, tile.group, tile.splits)
    return " ".join(map(str, (*numbers, tile.precision)))
