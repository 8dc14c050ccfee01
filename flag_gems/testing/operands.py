# SPDX-License-Identifier: Apache-2.0
"""Operands of the accuracy tests: dtypes to parametrize with, and repeatable values."""

from __future__ import annotations

import torch

import flag_gems

FLOATING: list[torch.dtype] = [torch.float16, torch.float32, torch.bfloat16]
"""Floating dtypes that every implementation of an operator has to take.

A device that lacks one is asked when the test runs: the plug-in skips the case and says so.
"""

INTEGRAL: list[torch.dtype] = [torch.int32, torch.uint8, torch.int64]


def values(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    """Normal numbers, or integers below 50, on the library's device.

    The same arguments give the same numbers, so that a failing case can be run alone.
    """
    generator = torch.Generator().manual_seed(len(shape) + sum(shape))
    if dtype.is_floating_point:
        made = torch.randn(shape, generator=generator)
    elif dtype is torch.bool:
        made = torch.randint(0, 2, shape, generator=generator)
    else:
        made = torch.randint(0 if dtype is torch.uint8 else -50, 50, shape, generator=generator)
    return made.to(dtype).to(flag_gems.device)
