# SPDX-License-Identifier: Apache-2.0
"""How a product is cut into tiles: looked up by a key, else decided by rule.

The key of the tuned files' family ``matmul`` is ``<dtype>/<layout>/<batches>x<M>x<N>x<K>``, as in
``bfloat16/nt/1x4096x4096x1024``. The layout has a letter for each factor: ``n`` where its rows are
contiguous, ``t`` where its columns are, ``s`` where neither is or where its memory is not aligned
to 16 bytes in each row. Sizes are rounded up to powers of two.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import torch

from flag_gems.runtime import device, interpreted, torch_device_fn, tuned
from flag_gems.runtime.tiling import next_power_of_2

FAMILY = "matmul"


@dataclass(frozen=True)
class Tiling:
    """One way to compute a product."""

    m: int
    n: int
    k: int
    num_warps: int = 4
    num_stages: int = 3
    group: int = 8
    """Tile rows that neighbouring programs walk down together."""
    splits: int = 1
    """Parts into which the sum is cut, each for a program of its own; pointers only."""
    descriptor: bool = False
    """Through tensor descriptors, with one program for many tiles."""
    halves: bool = False
    """Stores a tile as two (descriptor only)."""
    flatten: bool = False
    """Joins the loops over tiles and along the sum (descriptor only)."""
    specialize: bool = False
    """Gives the copies warps of their own (descriptor only)."""
    precision: str = "ieee"
    """How float32 factors are multiplied where TensorFloat-32 is not allowed: ieee or tf32x3."""

    def config(self) -> tuned.Config:
        """The entry of a tuned file: what differs from the defaults, and the sizes."""
        plain = asdict(Tiling(0, 0, 0))
        return {name: value for name, value in asdict(self).items() if value != plain[name]}


@dataclass(frozen=True)
class Problem:
    """A product [batches, M, K] by [batches, K, N] as a kernel's choice depends on it."""

    batches: int
    m: int
    n: int
    k: int
    dtype: torch.dtype
    layout: str

    @property
    def key(self) -> str:
        """The key of the tuned files."""
        sizes = "x".join(str(next_power_of_2(s)) for s in (self.batches, self.m, self.n, self.k))
        return f"{str(self.dtype).removeprefix('torch.')}/{self.layout}/{sizes}"

    def takes_descriptors(self, tiling: Tiling) -> bool:
        """Whether tiles read through descriptors stay within their matrix."""
        if self.layout[0] == "s" or self.layout[1] == "s" or not has_descriptors(self.dtype):
            return False
        if self.batches == 1:
            return True
        return not (self.m % tiling.m or self.n % tiling.n or self.k % tiling.k)


def has_descriptors(dtype: torch.dtype) -> bool:
    """Whether tensor descriptors pay here: Hopper and later copy tiles in hardware."""
    return (
        device.name == "cuda"
        and dtype.itemsize == 2
        and torch_device_fn.get_device_capability() >= (9, 0)
    )


def letter(tensor: torch.Tensor) -> str:
    """Layout of one factor, its last two dimensions; see the module."""
    row, column = tensor.stride()[-2:]
    size = tensor.element_size()
    steps = [step for step in tensor.stride() if step != 1]
    aligned = tensor.data_ptr() % 16 == 0 and all(step * size % 16 == 0 for step in steps)
    if not aligned:
        return "s"
    if column == 1 and row >= tensor.shape[-1]:
        return "n"
    return "t" if row == 1 and column >= tensor.shape[-2] else "s"


def tiling(problem: Problem) -> Tiling:
    """The tuned tiling where one is kept and fits, else one by rule."""
    config = tuned.lookup(FAMILY, problem.key)
    if config is not None:
        found = Tiling(**config)
        if not found.descriptor or problem.takes_descriptors(found):
            return found
    return rule(problem)


def rule(problem: Problem) -> Tiling:
    """A tiling for a product that nobody tuned."""
    m, n, k = problem.m, problem.n, problem.k
    if device.name == "cpu":
        return _on_cpu(m, n, k)
    if problem.dtype is torch.float64:
        return Tiling(32, 32, 16, num_stages=2)
    if problem.dtype is torch.float32:
        return Tiling(64, 64, 32)
    short = min(max(next_power_of_2(m), 16), 128)
    narrow = min(max(next_power_of_2(n), 16), 256)
    # Too few full tiles leave most of the device idle; halving them costs less than that.
    while short * narrow > 64 * 64 and -(-m // short) * -(-n // narrow) * problem.batches < 128:
        short, narrow = (short, narrow // 2) if narrow >= short else (short // 2, narrow)
    warps = 8 if short * narrow >= 128 * 128 else 4
    wanted = Tiling(short, narrow, 64, warps, descriptor=True)
    if short >= 64 and narrow >= 64 and problem.takes_descriptors(wanted):
        return wanted
    tiles = -(-m // short) * -(-n // narrow) * problem.batches
    splits = 1
    while tiles * splits < 128 and k // (2 * splits) >= 512:
        splits *= 2
    return Tiling(short, narrow, 64, warps, splits=splits)


def _on_cpu(m: int, n: int, k: int) -> Tiling:
    most = 256 if interpreted else 64
    short, narrow = (min(max(next_power_of_2(size), 16), most) for size in (m, n))
    return Tiling(short, narrow, min(max(next_power_of_2(k), 16), most), num_stages=1)
