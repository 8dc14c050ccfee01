# SPDX-License-Identifier: Apache-2.0
"""softmax along the last dimension, and its backward."""

from __future__ import annotations

import pytest
import torch

import flag_gems
from flag_gems.testing.benchmark import Benchmark, Inputs, Shapes

SHAPES = Shapes(
    core=((4096, 256), (4096, 1024), (4096, 4096), (1024, 32768)),
    more=((1, 131072), (200, 40999), (65536, 64), (8192, 8192)),
    cpu_core=((32, 64), (64, 1000)),
    cpu_more=((1, 4096), (100, 33)),
)


@pytest.mark.softmax
def test_softmax() -> None:
    def build(shape: tuple[int, ...], dtype: torch.dtype, device: str) -> Inputs:
        return Inputs((torch.randn(shape, dtype=dtype, device=device), -1))

    Benchmark("softmax", "torch.softmax", build, SHAPES, gems_op=flag_gems.softmax).run()


@pytest.mark.softmax_backward
def test_softmax_backward() -> None:
    def build(shape: tuple[int, ...], dtype: torch.dtype, device: str) -> Inputs:
        output = torch.softmax(torch.randn(shape, dtype=dtype, device=device), -1)
        return Inputs((torch.randn_like(output), output, -1, dtype))

    Benchmark(
        "softmax_backward",
        "torch.ops.aten._softmax_backward_data",
        build,
        SHAPES,
        gems_op=flag_gems.softmax_backward,
    ).run()
