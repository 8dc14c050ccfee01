# SPDX-License-Identifier: Apache-2.0
"""nonzero of tensors with few and with many places."""

from __future__ import annotations

import pytest
import torch

import flag_gems
from flag_gems.testing.benchmark import Benchmark, Inputs, Shapes

SHAPES = Shapes(
    core=((1024, 1024), (4096, 4096), (1 << 24,)),
    more=((200, 40999), (64, 64, 64, 64)),
    cpu_core=((64, 1000), (1 << 18,)),
    cpu_more=((1, 1), (20, 30, 40)),
)


def build(shape: tuple[int, ...], dtype: torch.dtype, device: str, share: float) -> Inputs:
    chosen = torch.rand(shape, device=device) < share
    return Inputs((chosen.to(dtype),))


@pytest.mark.nonzero
def test_nonzero() -> None:
    Benchmark(
        "nonzero",
        "torch.nonzero",
        build,
        SHAPES,
        gems_op=flag_gems.nonzero,
        params=({"share": 0.01}, {"share": 0.5}),
    ).run()
