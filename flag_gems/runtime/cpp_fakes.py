# SPDX-License-Identifier: Apache-2.0
"""What torch.ops.flag_gems answers for tensors without data: shapes and dtypes for torch.compile.

Here and not in C++, because torch's own rules for symbolic shapes are written in Python and most of
our operators have a twin in ATen.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

FAKES: dict[str, Callable[..., Any]] = {}


def _fake(function: Callable[..., Any]) -> Callable[..., Any]:
    name = function.__name__
    FAKES[name] = function
    torch.library.register_fake(f"flag_gems::{name}", function)
    return function


@_fake
def softmax(self: torch.Tensor, dim: int, half_to_float: bool = False) -> torch.Tensor:
    return torch.empty(
        self.shape, dtype=torch.float32 if half_to_float else self.dtype, device=self.device
    )


@_fake
def softmax_backward(
    grad_output: torch.Tensor, output: torch.Tensor, dim: int, input_dtype: torch.dtype
) -> torch.Tensor:
    return torch.empty(output.shape, dtype=input_dtype, device=output.device)


@_fake
def rms_norm(input: torch.Tensor, weight: torch.Tensor, eps: float = 1e-5) -> torch.Tensor:
    return torch.empty(input.shape, dtype=input.dtype, device=input.device)


@_fake
def rms_norm_forward(
    input: torch.Tensor, weight: torch.Tensor, eps: float
) -> tuple[torch.Tensor, torch.Tensor]:
    wide = torch.float64 if input.dtype is torch.float64 else torch.float32
    rows = input.numel() // weight.numel() if weight.numel() else 0
    return rms_norm(input, weight, eps), input.new_empty((rows,), dtype=wide)


@_fake
def rms_norm_backward(
    grad: torch.Tensor, input: torch.Tensor, weight: torch.Tensor, inverse: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    return (
        torch.empty(input.shape, dtype=input.dtype, device=input.device),
        torch.empty(weight.shape, dtype=weight.dtype, device=weight.device),
    )


def _as_aten(name: str, function: Callable[..., Any]) -> None:
    FAKES[name] = function
    torch.library.register_fake(f"flag_gems::{name}", function)


_as_aten("mm", torch.ops.aten.mm.default)
_as_aten("mm.out", torch.ops.aten.mm.out)
_as_aten("bmm", torch.ops.aten.bmm.default)
_as_aten("bmm.out", torch.ops.aten.bmm.out)
_as_aten("addmm", torch.ops.aten.addmm.default)
_as_aten("addmm.out", torch.ops.aten.addmm.out)
