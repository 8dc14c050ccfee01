# SPDX-License-Identifier: Apache-2.0
"""rms_norm over the last dimension, with a weight."""

from __future__ import annotations

import pytest
import torch

import flag_gems
from flag_gems.testing.benchmark import Benchmark, Inputs, Shapes

SHAPES = Shapes(
    core=((8192, 1024), (8192, 4096), (2048, 8192), (64, 16384)),
    more=((1, 4096), (32768, 512), (1000, 5003)),
    cpu_core=((32, 64), (64, 1000)),
    cpu_more=((1, 4096), (100, 33)),
)


@pytest.mark.rms_norm
def test_rms_norm() -> None:
    def build(shape: tuple[int, ...], dtype: torch.dtype, device: str) -> Inputs:
        x = torch.randn(shape, dtype=dtype, device=device)
        weight = torch.randn(shape[-1:], dtype=dtype, device=device)
        return Inputs((x, shape[-1:]), {"weight": weight, "eps": 1e-5})

    Benchmark(
        "rms_norm",
        "torch.nn.functional.rms_norm",
        build,
        SHAPES,
        gems_op=flag_gems.rms_norm,
    ).run()
