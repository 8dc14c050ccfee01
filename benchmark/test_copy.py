# SPDX-License-Identifier: Apache-2.0
"""Copies of a matrix that lies as it is, and of its transpose."""

from __future__ import annotations

import pytest
import torch

import flag_gems
from flag_gems.testing.benchmark import Benchmark, Inputs, Shapes

SHAPES = Shapes(
    core=((1024, 1024), (4096, 4096), (8192, 8192)),
    more=((20000, 320), (10000, 65537)),
    cpu_core=((64, 64), (100, 1000)),
    cpu_more=((20, 480), (1, 1)),
)
LAYOUTS = ({"layout": "straight"}, {"layout": "transposed"})


def _source(shape: tuple[int, ...], dtype: torch.dtype, device: str, layout: str) -> torch.Tensor:
    made = torch.randn(shape, dtype=dtype, device=device)
    return made.t() if layout == "transposed" else made


@pytest.mark.copy_
def test_copy_() -> None:
    def build(shape: tuple[int, ...], dtype: torch.dtype, device: str, layout: str) -> Inputs:
        source = _source(shape, dtype, device, layout)
        return Inputs((torch.empty(source.shape, dtype=dtype, device=device), source), writes=(0,))

    Benchmark(
        "copy_",
        torch.Tensor.copy_,
        build,
        SHAPES,
        gems_op=flag_gems.copy_,
        params=LAYOUTS,
        shape_desc="rows, columns",
    ).run()


@pytest.mark.to_copy
def test_to_copy() -> None:
    def build(shape: tuple[int, ...], dtype: torch.dtype, device: str, layout: str) -> Inputs:
        target = torch.float16 if dtype is torch.float32 else torch.float32
        return Inputs((_source(shape, dtype, device, layout),), {"dtype": target})

    Benchmark(
        "to_copy",
        "torch.ops.aten._to_copy",
        build,
        SHAPES,
        gems_op=flag_gems.to_copy,
        params=LAYOUTS,
        shape_desc="rows, columns",
    ).run()


@pytest.mark.contiguous
def test_contiguous() -> None:
    def build(shape: tuple[int, ...], dtype: torch.dtype, device: str, layout: str) -> Inputs:
        return Inputs((_source(shape, dtype, device, layout),))

    Benchmark(
        "contiguous",
        torch.Tensor.contiguous,
        build,
        SHAPES,
        gems_op=flag_gems.contiguous,
        params=({"layout": "transposed"},),
        shape_desc="rows, columns",
    ).run()
