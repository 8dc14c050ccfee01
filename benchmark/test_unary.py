# SPDX-License-Identifier: Apache-2.0
"""Element-wise functions of one tensor."""

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
    return Inputs((torch.randn(shape, dtype=dtype, device=device),))


NAMES = (
    *("abs", "neg", "exp", "log", "sqrt", "rsqrt", "reciprocal", "sin", "cos", "tanh", "sigmoid"),
    *("relu", "silu", "gelu"),
)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=getattr(pytest.mark, name)) for name in NAMES]
)
def test_unary(name: str) -> None:
    where = "torch" if hasattr(torch, name) else "torch.nn.functional"
    Benchmark(
        name, f"{where}.{name}", build, SHAPES, gems_op=getattr(flag_gems, name), shape_desc="sizes"
    ).run()


@pytest.mark.bitwise_not
def test_bitwise_not() -> None:
    def whole(shape: tuple[int, ...], dtype: torch.dtype, device: str) -> Inputs:
        return Inputs((torch.randint(0, 100, shape, device=device).to(dtype),))

    Benchmark(
        "bitwise_not",
        "torch.bitwise_not",
        whole,
        SHAPES,
        gems_op=flag_gems.bitwise_not,
        dtypes=(torch.int32,),
        shape_desc="sizes",
    ).run()
