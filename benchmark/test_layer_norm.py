# SPDX-License-Identifier: Apache-2.0
"""layer_norm over the last dimension, with weight and bias."""

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


@pytest.mark.layer_norm
def test_layer_norm() -> None:
    def build(shape: tuple[int, ...], dtype: torch.dtype, device: str) -> Inputs:
        x = torch.randn(shape, dtype=dtype, device=device)
        weight = torch.randn(shape[-1:], dtype=dtype, device=device)
        return Inputs((x, shape[-1:]), {"weight": weight, "bias": torch.randn_like(weight)})

    Benchmark(
        "layer_norm",
        "torch.nn.functional.layer_norm",
        build,
        SHAPES,
        gems_op=flag_gems.layer_norm,
    ).run()
