# SPDX-License-Identifier: Apache-2.0
"""The write of new keys and values into a paged cache against torch's index_put."""

from __future__ import annotations

import pytest
import torch

import flag_gems
from flag_gems.testing.benchmark import Benchmark, Inputs, Shapes

SHAPES = Shapes(
    core=((8192, 8, 128), (64, 8, 128), (2048, 32, 64)),
    more=((1, 8, 128), (1000, 5, 80)),
    cpu_core=((64, 4, 64), (500, 2, 32)),
    cpu_more=((1, 8, 128),),
)

BLOCK_SIZE = 16


def composed(
    key: torch.Tensor,
    value: torch.Tensor,
    key_cache: torch.Tensor,
    value_cache: torch.Tensor,
    slot_mapping: torch.Tensor,
) -> None:
    key_cache.view(-1, *key.shape[1:])[slot_mapping] = key
    value_cache.view(-1, *key.shape[1:])[slot_mapping] = value


@pytest.mark.reshape_and_cache_flash
def test_reshape_and_cache_flash() -> None:
    def build(shape: tuple[int, ...], dtype: torch.dtype, device: str) -> Inputs:
        tokens, heads, size = shape
        key, value = torch.randn((2, *shape), dtype=dtype, device=device).unbind(0)
        blocks = 2 * tokens // BLOCK_SIZE + 1
        caches = torch.zeros((2, blocks, BLOCK_SIZE, heads, size), dtype=dtype, device=device)
        slots = torch.randperm(blocks * BLOCK_SIZE, device=device)[:tokens]
        return Inputs((key, value, *caches.unbind(0), slots), writes=(2, 3))

    Benchmark(
        "reshape_and_cache_flash",
        composed,
        build,
        SHAPES,
        gems_op=flag_gems.reshape_and_cache_flash,
        shape_desc="tokens, heads, size",
    ).run()
