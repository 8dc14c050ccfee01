# SPDX-License-Identifier: Apache-2.0
"""embedding: rows of a table of 32000 by their numbers."""

from __future__ import annotations

import pytest
import torch

import flag_gems
from flag_gems.testing.benchmark import Benchmark, Inputs, Shapes

SHAPES = Shapes(
    core=((2048, 1024), (16384, 4096), (65536, 128)),
    more=((1, 4096), (10000, 1000)),
    cpu_core=((64, 64), (1000, 128)),
    cpu_more=((20, 33), (1, 1)),
)


@pytest.mark.embedding
def test_embedding() -> None:
    def build(shape: tuple[int, ...], dtype: torch.dtype, device: str) -> Inputs:
        count, columns = shape
        table = torch.randn((32000, columns), dtype=dtype, device=device)
        return Inputs((table, torch.randint(0, 32000, (count,), device=device)))

    Benchmark(
        "embedding",
        "torch.ops.aten.embedding",
        build,
        SHAPES,
        gems_op=flag_gems.embedding,
        shape_desc="rows, columns",
    ).run()
