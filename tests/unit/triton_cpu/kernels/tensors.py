# SPDX-License-Identifier: Apache-2.0
"""Tensors for kernel tests: values of each dtype, and memory that ends at an unmapped page."""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Sequence

import numpy as np
import torch

INTEGERS = (torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8)
FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)

# Unit roundoff: half the distance from 1 to the next number of the format.
UNIT_ROUNDOFF = {dtype: torch.finfo(dtype).eps / 2 for dtype in FLOATS}


def values(dtype: torch.dtype, shape: Sequence[int] | int, seed: int) -> torch.Tensor:
    """Integers over the dtype's whole range, or normally distributed floats."""
    generator = torch.Generator().manual_seed(seed)
    size = (shape,) if isinstance(shape, int) else tuple(shape)
    if dtype == torch.bool:
        return torch.randint(0, 2, size, generator=generator).bool()
    if dtype.is_floating_point:
        return torch.randn(size, generator=generator, dtype=torch.float64).to(dtype)
    info = torch.iinfo(dtype)
    drawn = torch.randint(-(2**62), 2**62, size, generator=generator, dtype=torch.int64)
    return drawn.to(dtype) if info.bits < 64 else drawn * 2 + (drawn & 1)


def assert_near(
    actual: torch.Tensor,
    exact: torch.Tensor,
    *,
    terms: int = 1,
    scale: torch.Tensor | None = None,
    arithmetic: torch.dtype | None = None,
) -> None:
    """Compare with a float64 reference under the error bound of a sum of ``terms`` roundings.

    The bound is (terms + 1) unit roundoffs of ``arithmetic`` (default: the result's dtype) times
    ``scale`` (default: the reference's magnitude), plus one rounding to the result's own dtype;
    Higham, Accuracy and Stability of Numerical Algorithms, section 4.2.
    """
    assert actual.shape == exact.shape
    magnitude = exact.abs() if scale is None else scale
    arithmetic = arithmetic or actual.dtype
    bound = (terms + 1) * UNIT_ROUNDOFF[arithmetic] * magnitude
    bound += UNIT_ROUNDOFF[actual.dtype] * exact.abs() + torch.finfo(actual.dtype).tiny
    error = (actual.double() - exact).abs()
    same = (actual.double() == exact) | (actual.isnan() & exact.isnan())
    worst = torch.where(same, 0, error / bound)
    assert bool((worst <= 1).all()), f"error is {worst.max().item():.3g} times the bound"


class GuardedMemory:
    """Pages of memory between two pages that may be neither read nor written."""

    def __init__(self, size: int) -> None:
        page = mmap.PAGESIZE
        self.size = -(-size // page) * page
        self._mapping = mmap.mmap(-1, self.size + 2 * page)
        start = ctypes.addressof(ctypes.c_char.from_buffer(self._mapping))
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._guards = (start, start + page + self.size)
        for guard in self._guards:
            self._protect(guard, 0)
        self._inside = np.frombuffer(self._mapping, np.uint8, self.size, page)

    def _protect(self, address: int, protection: int) -> None:
        if self._libc.mprotect(ctypes.c_void_p(address), mmap.PAGESIZE, protection) != 0:
            raise OSError(ctypes.get_errno(), "mprotect failed")

    def at_end(self, tensor: torch.Tensor) -> torch.Tensor:
        """A copy of a tensor whose last byte is the last before the unmapped page."""
        size = tensor.numel() * tensor.element_size()
        place = torch.from_numpy(self._inside[self.size - size :]).view(tensor.dtype)
        return place.reshape(tensor.shape).copy_(tensor)

    def at_start(self, tensor: torch.Tensor) -> torch.Tensor:
        """A copy of a tensor whose first byte is the first after the unmapped page."""
        size = tensor.numel() * tensor.element_size()
        place = torch.from_numpy(self._inside[:size]).view(tensor.dtype)
        return place.reshape(tensor.shape).copy_(tensor)
