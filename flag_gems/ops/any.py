# SPDX-License-Identifier: Apache-2.0
"""Whether some, or all, elements are true."""

from __future__ import annotations

import torch

from flag_gems.runtime.reductions import Reduction
from flag_gems.runtime.reductions.dims import Dims


def _truth_dtype(dtype: torch.dtype) -> torch.dtype:
    return torch.uint8 if dtype is torch.uint8 else torch.bool


_ANY = Reduction("any", identity=lambda dtype: 0, result=_truth_dtype, truth=True, empty=0)
_ALL = Reduction("all", identity=lambda dtype: 1, result=_truth_dtype, truth=True, empty=1)


def any(input: torch.Tensor, dim: Dims = None, keepdim: bool = False) -> torch.Tensor:
    """Whether an element differs from 0, of all or along dimensions; NaN does.

    Returns:
        bool, uint8 for uint8. Nothing gives False.

    Raises:
        IndexError, RuntimeError: whatever torch raises for a bad dim.
    """
    if dim is None and not keepdim:
        return _ANY("any", input)
    return any_dim(input, dim, keepdim)


def any_dim(input: torch.Tensor, dim: Dims = None, keepdim: bool = False) -> torch.Tensor:
    """ATen's ``any.dim`` and ``any.dims``; see :func:`any`."""
    key = "any.dim" if isinstance(dim, int) else "any.dims"
    return _ANY(key, input, dim, keepdim, handed=((dim, keepdim), {}))


def all(input: torch.Tensor, dim: Dims = None, keepdim: bool = False) -> torch.Tensor:
    """Whether every element differs from 0, of all or along dimensions. Nothing gives True."""
    if dim is None and not keepdim:
        return _ALL("all", input)
    return all_dim(input, dim, keepdim)


def all_dim(input: torch.Tensor, dim: Dims = None, keepdim: bool = False) -> torch.Tensor:
    """ATen's ``all.dim`` and ``all.dims``; see :func:`all`."""
    key = "all.dim" if isinstance(dim, int) else "all.dims"
    return _ALL(key, input, dim, keepdim, handed=((dim, keepdim), {}))
