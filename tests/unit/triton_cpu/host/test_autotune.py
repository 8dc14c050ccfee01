# SPDX-License-Identifier: Apache-2.0
"""Triton's autotuner, heuristics and do_bench work on the CPU, and compile no kernel twice."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl
from triton import knobs


@triton.autotune(
    configs=[
        triton.Config({"BLOCK": block}, num_warps=warps, num_stages=stages)
        for block in (64, 128)
        for warps in (1, 4)
        for stages in (1, 3)
    ],
    key=["n"],
)
@triton.jit
def negate(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, -tl.load(x + i, mask=i < n), mask=i < n)


@triton.heuristics({"BLOCK": lambda arguments: triton.next_power_of_2(arguments["n"])})
@triton.jit
def fill(out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, i, mask=i < n)


def test_configurations_that_differ_in_warps_and_stages_are_compiled_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hits: list[bool] = []
    monkeypatch.setattr(
        knobs.compilation, "listener", lambda **what: hits.append(what["cache_hit"])
    )
    x, out = torch.randn(1000), torch.empty(1000)
    negate[lambda meta: (triton.cdiv(1000, meta["BLOCK"]),)](x, out, 1000)
    assert torch.equal(out, -x)
    assert negate.best_config.kwargs["BLOCK"] in (64, 128)
    assert hits.count(False) == 2, "two blocks, so two kernels"


def test_heuristics() -> None:
    out = torch.zeros(100, dtype=torch.int32)
    fill[(1,)](out, 100)
    assert torch.equal(out, torch.arange(100, dtype=torch.int32))


def test_do_bench_measures_milliseconds() -> None:
    out = torch.zeros(100, dtype=torch.int32)
    took = triton.testing.do_bench(lambda: fill[(1,)](out, 100), warmup=1, rep=5)
    assert 0 < took < 1000
