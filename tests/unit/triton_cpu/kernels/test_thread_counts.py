# SPDX-License-Identifier: Apache-2.0
"""Bit for bit the same result from one thread and from more than there are processors.

Only atomics on floats may differ: their order decides how the sum rounds.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import triton
import triton.language as tl

from tests.unit.triton_cpu.kernels.tensors import values
from triton_cpu import bench_kernels

THREADS = (1, 2, 3, 7)


@triton.jit
def count_kernel(x, counts, best, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n, other=0)
    tl.atomic_add(counts + (value & 15), 1, mask=i < n)
    tl.atomic_max(best + (value & 15), value, mask=i < n)


@triton.jit
def scan_sort_kernel(x, out, columns, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    value = tl.load(x + row * columns + i, mask=i < columns, other=0.0)
    total = tl.cumsum(tl.sort(value), axis=0)
    tl.store(out + row * columns + i, total, mask=i < columns)


def counts() -> torch.Tensor:
    x = values(torch.int32, 100_000, 1)
    found = torch.zeros(16, dtype=torch.int32), torch.full((16,), -(2**31), dtype=torch.int32)
    count_kernel[(triton.cdiv(x.numel(), 512),)](x, *found, x.numel(), BLOCK=512)
    return torch.stack(found)


def scans() -> torch.Tensor:
    x = values(torch.float32, (200, 120), 1)
    out = torch.empty_like(x)
    scan_sort_kernel[(200,)](x, out, 120, BLOCK=128)
    return out


def floats(*shape: int, seed: int = 1) -> torch.Tensor:
    return values(torch.float32, shape, seed)


LAUNCHES: dict[str, Callable[[], torch.Tensor]] = {
    "sum": lambda: bench_kernels.total(floats(300_001)),
    "softmax": lambda: bench_kernels.softmax(floats(301, 500)),
    "layer_norm": lambda: bench_kernels.layer_norm(floats(301, 500), floats(500), floats(500)),
    "argmax": lambda: bench_kernels.argmax(floats(301, 500)),
    "matmul": lambda: bench_kernels.matmul(floats(200, 300), floats(300, 260, seed=2)),
    "bf16_matmul": lambda: bench_kernels.matmul(
        floats(200, 300).bfloat16(), floats(300, 260, seed=2).bfloat16()
    ),
    "attention": lambda: bench_kernels.attention(
        *(floats(1, 4, 200, 64, seed=seed) for seed in (1, 2, 3))
    ),
    "integer_atomics": counts,
    "scan_of_sorted": scans,
}


@pytest.mark.usefixtures("thread_count")
@pytest.mark.parametrize("name", LAUNCHES)
def test_results_do_not_depend_on_the_number_of_threads(name: str) -> None:
    results = []
    for threads in THREADS:
        torch.set_num_threads(threads)
        results.append(LAUNCHES[name]())
    for threads, result in zip(THREADS[1:], results[1:], strict=True):
        assert torch.equal(results[0], result), f"{threads} threads differ from one"
