# SPDX-License-Identifier: Apache-2.0
"""Comparisons, maximum and minimum of two tensors of one shape."""

from __future__ import annotations

import pytest
import torch

import flag_gems
from flag_gems.testing.benchmark import Benchmark, Inputs, Shapes

SHAPES = Shapes(
    core=((1024, 1024), (64, 64, 512), (4096, 4096), (1 << 26,)),
    more=((1 << 28,), (20, 320, 15), (10000, 65537)),
    cpu_core=((64, 64), (100_000,)),
    cpu_more=((20, 32, 15), (1,)),
)


def build(shape: tuple[int, ...], dtype: torch.dtype, device: str) -> Inputs:
    left = torch.randn(shape, dtype=dtype, device=device)
    return Inputs((left, torch.randn_like(left)))


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=getattr(pytest.mark, name))
        for name in ("eq", "ne", "lt", "le", "gt", "ge", "maximum", "minimum")
    ],
)
def test_compare(name: str) -> None:
    Benchmark(
        name, f"torch.{name}", build, SHAPES, gems_op=getattr(flag_gems, name), shape_desc="sizes"
    ).run()
