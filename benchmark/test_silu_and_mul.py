# SPDX-License-Identifier: Apache-2.0
"""silu_and_mul of the halves of a feed-forward block's matrix, against torch's two operators."""

from __future__ import annotations

import pytest
import torch

import flag_gems
from flag_gems.testing.benchmark import Benchmark, Inputs, Shapes

SHAPES = Shapes(
    core=((8192, 11264), (512, 14336), (16, 28672)),
    more=((1, 4096), (65536, 256), (1000, 5003)),
    cpu_core=((32, 64), (64, 1000)),
    cpu_more=((1, 4096), (100, 33)),
)


def composed(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.silu(x) * y


def composed_out(x: torch.Tensor, y: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
    return torch.mul(torch.nn.functional.silu(x), y, out=out)


def _halves(shape: tuple[int, ...], dtype: torch.dtype, device: str) -> tuple[torch.Tensor, ...]:
    return torch.randn((shape[0], 2 * shape[1]), dtype=dtype, device=device).chunk(2, -1)


@pytest.mark.silu_and_mul
def test_silu_and_mul() -> None:
    def build(shape: tuple[int, ...], dtype: torch.dtype, device: str) -> Inputs:
        return Inputs(_halves(shape, dtype, device))

    Benchmark("silu_and_mul", composed, build, SHAPES, gems_op=flag_gems.silu_and_mul).run()


@pytest.mark.silu_and_mul_out
def test_silu_and_mul_out() -> None:
    def build(shape: tuple[int, ...], dtype: torch.dtype, device: str) -> Inputs:
        out = torch.empty(shape, dtype=dtype, device=device)
        return Inputs((*_halves(shape, dtype, device), out), writes=(2,))

    Benchmark(
        "silu_and_mul_out", composed_out, build, SHAPES, gems_op=flag_gems.silu_and_mul_out
    ).run()
