# SPDX-License-Identifier: Apache-2.0
"""What ``runtime.tune`` tries for matrix products."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch

from flag_gems.ops import matmul_launch
from flag_gems.ops.matmul_plan import FAMILY, Problem, Tiling
from flag_gems.runtime import device
from flag_gems.runtime.tiling import next_power_of_2
from flag_gems.runtime.tuned import Config
from flag_gems.runtime.tuning import Family

_CASE = re.compile(r"(\w+)/([nts])([nts])/(\d+)x(\d+)x(\d+)x(\d+)")
_SIZES = (
    "1x1024x1024x1024",
    "1x2048x2048x2048",
    "1x4096x4096x4096",
    "1x8192x8192x8192",
    "1x512x512x512",
    "1x384x384x384",
    "1x16x4096x4096",
    "1x1x11008x4096",
    "64x512x512x512",
)
_ODD = ("1x1000x777x513",)


def _cases() -> tuple[str, ...]:
    if device.name == "cpu":
        sizes = ("1x32x32x32", "1x50x33x70", "1x96x96x96", "1x1x64x128", "1x256x256x256")
        found = [f"float32/{layout}/{size}" for size in sizes for layout in ("nn", "nt")]
        return (*found, *(f"bfloat16/nn/{size}" for size in sizes), "float32/nn/8x64x64x64")
    found = [f"bfloat16/{layout}/{size}" for size in _SIZES for layout in ("nn", "nt")]
    found += [f"{dtype}/ss/{size}" for size in _ODD for dtype in ("bfloat16", "float32")]
    found += [f"float32/{layout}/{size}" for size in _SIZES for layout in ("nn", "nt")]
    return tuple(found)


@dataclass(frozen=True)
class _Product:
    """Two factors, and what may be tried on them."""

    a: torch.Tensor
    b: torch.Tensor
    out: torch.Tensor
    keys: tuple[str, ...]
    candidates: tuple[Config, ...]
    expected: torch.Tensor

    def run(self, config: Config) -> torch.Tensor:
        matmul_launch.launch(self.a, self.b, self.out, chosen=Tiling(**config))
        return self.out

    def native(self) -> torch.Tensor:
        return torch.matmul(self.a, self.b, out=self.out)

    def is_right(self, result: torch.Tensor) -> bool:
        # A sum of K products of normal numbers is about sqrt(K); two orders of summing it differ by
        # a few units of its last place, and float32's unit here is that of tf32x3's lost term.
        unit = 2.0**-20 if result.dtype is torch.float32 else torch.finfo(result.dtype).eps
        error = (result.float() - self.expected.float()).abs().max().item()
        scale = self.expected.float().abs().max().item()
        return error <= 2 * unit * scale


def _factor(batches: int, rows: int, columns: int, layout: str, dtype: torch.dtype) -> torch.Tensor:
    shape = (batches, rows, columns) if batches > 1 else (rows, columns)
    if layout == "t":
        shape = (*shape[:-2], columns, rows)
    made = torch.randn(shape, device=device.name).to(dtype)
    return made.mT if layout == "t" else made


def prepare(case: str) -> _Product:
    """Makes the factors of a case such as ``bfloat16/nt/1x4096x4096x1024``.

    Raises:
        ValueError: that is no case.
    """
    found = _CASE.fullmatch(case)
    if found is None:
        raise ValueError(f"{case!r} is no case; they look like bfloat16/nt/1x4096x4096x1024")
    dtype = getattr(torch, found[1])
    batches, m, n, k = (int(size) for size in found.groups()[3:])
    a, b = _factor(batches, m, k, found[2], dtype), _factor(batches, k, n, found[3], dtype)
    problem = matmul_launch.problem_of(a, b)
    halves = (torch.bfloat16, torch.float16)
    # The half types have one speed, and one tiling.
    names = halves if dtype in halves else (dtype,)
    return _Product(
        a,
        b,
        a.new_empty((*a.shape[:-1], n)),
        tuple(replace(problem, dtype=name).key for name in names),
        tuple(tiling.config() for tiling in _tilings(problem)),
        torch.matmul(a, b),
    )


def _tilings(problem: Problem) -> Iterator[Tiling]:
    if device.name == "cpu":
        yield from _on_cpu(problem)
        return
    for tiling in _pointers(problem):
        if _fits(problem, tiling):
            yield tiling
    for tiling in _descriptors():
        if _fits(problem, tiling) and problem.takes_descriptors(tiling):
            yield tiling


def _fits(problem: Problem, tiling: Tiling) -> bool:
    """Whether tiles are neither mostly outside of the product nor far too many."""
    if tiling.m > max(next_power_of_2(problem.m), 16):
        return False
    if tiling.n > max(next_power_of_2(problem.n), 16):
        return False
    tiles = -(-problem.m // tiling.m) * -(-problem.n // tiling.n) * problem.batches
    if tiling.splits > 1:
        return tiles * tiling.splits <= 1024 and tiles < 256 and problem.k >= 256 * tiling.splits
    return tiles <= 1 << 13 and (tiles >= 16 or tiling.m * tiling.n <= 64 * 64)


def _pointers(problem: Problem) -> Iterator[Tiling]:
    if problem.dtype is torch.float32:
        for precision in ("tf32x3", "ieee"):
            for m, n, k, warps, stages in (
                (128, 128, 32, 8, 3),
                (128, 128, 32, 4, 3),
                (128, 64, 32, 4, 3),
                (64, 64, 32, 4, 4),
                (32, 32, 64, 4, 3),
            ):
                yield Tiling(m, n, k, warps, stages, precision=precision)
            for splits in (2, 4, 8):
                yield Tiling(16, 64, 64, 4, 4, splits=splits, precision=precision)
                yield Tiling(16, 128, 32, 4, 4, splits=splits, precision=precision)
        return
    for m, n, k, warps, stages in (
        (128, 256, 64, 8, 3),
        (128, 128, 64, 4, 4),
        (128, 128, 64, 8, 3),
        (128, 64, 64, 4, 4),
        (64, 128, 64, 4, 4),
        (64, 64, 64, 4, 5),
        (64, 64, 128, 4, 3),
        (64, 32, 128, 4, 4),
        (32, 64, 128, 4, 4),
        (32, 32, 128, 4, 4),
    ):
        yield Tiling(m, n, k, warps, stages)
    for n, k, warps, stages in (
        (32, 128, 2, 4),
        (32, 256, 4, 3),
        (64, 128, 4, 4),
        (64, 256, 4, 3),
        (128, 64, 4, 5),
        (128, 128, 4, 4),
    ):
        for splits in (1, 2, 4, 8):
            yield Tiling(16, n, k, warps, stages, splits=splits)
    for m, n, splits in ((64, 64, 2), (64, 64, 4), (128, 128, 2), (128, 128, 4)):
        yield Tiling(m, n, 64, 4, 4, splits=splits)


def _descriptors() -> Iterator[Tiling]:
    for m, n, k, warps, stages, halves in (
        (128, 256, 64, 8, 3, False),
        (128, 256, 64, 8, 4, True),
        (256, 128, 64, 8, 3, False),
        (256, 128, 64, 8, 4, True),
        (128, 128, 64, 4, 4, False),
        (128, 128, 64, 8, 4, False),
        (128, 128, 128, 8, 3, False),
        (128, 64, 64, 4, 5, False),
        (64, 128, 64, 4, 5, False),
        (64, 256, 64, 4, 4, False),
        (64, 64, 64, 4, 6, False),
        (64, 64, 128, 4, 4, False),
    ):
        for flatten, specialize in ((False, False), (True, False), (False, True)):
            yield Tiling(
                m,
                n,
                k,
                warps,
                stages,
                descriptor=True,
                halves=halves,
                flatten=flatten,
                specialize=specialize,
            )


def _on_cpu(problem: Problem) -> Iterator[Tiling]:
    sizes = (16, 32, 64, 128)
    for m in sizes:
        for n in sizes:
            for k in (32, 64, 128):
                tiling = Tiling(m, n, k, num_stages=1)
                if all(
                    own <= max(next_power_of_2(size), 16)
                    for own, size in zip((m, n, k), (problem.m, problem.n, problem.k), strict=True)
                ):
                    yield tiling


TUNING = Family(FAMILY, _cases(), prepare)
