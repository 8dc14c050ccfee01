# SPDX-License-Identifier: Apache-2.0
"""The public functions in terms of the C++ operators, with the signatures of their Python twins.

What a C++ operator's signature cannot say goes to the Python function.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib import import_module
from typing import Any

import torch

from flag_gems.runtime import ledger

c_operators: Any = import_module("flag_gems.c_operators")

Function = Callable[..., Any]


class _Route:
    """How a branch reaches C++: through the dispatcher, or past it where no gradient is wanted."""

    def __init__(self) -> None:
        self.past_dispatcher = False

    def __call__(self, key: str, name: str, *arguments: Any, **named: Any) -> Any:
        if self.past_dispatcher and not _wants_gradient(arguments):
            function = getattr(c_operators, name.replace(".", "_"))
        else:
            packet, _, overload = name.partition(".")
            function = getattr(getattr(torch.ops.flag_gems, packet), overload or "default")
        before = c_operators.native_count()
        try:
            result = function(*arguments, **named)
        except Exception:
            ledger.record(key, "refused", "C++ operator")
            raise
        native = c_operators.native_count() != before
        ledger.record(key, "native" if native else "gems", "C++ operator" if native else "")
        return result


route = _Route()
"""The tests set ``route.past_dispatcher`` to run the accuracy suite through c_operators."""


def _wants_gradient(arguments: tuple[Any, ...]) -> bool:
    return torch.is_grad_enabled() and any(
        isinstance(one, torch.Tensor) and one.requires_grad for one in arguments
    )


BRANCHES: dict[str, Callable[[Function], Function]] = {}
"""Public name -> the maker of its branch from the Python function."""


def _branch(make: Callable[[Function], Function]) -> Callable[[Function], Function]:
    def wrapped(python: Function) -> Function:
        return functools.wraps(python)(make(python))

    BRANCHES[make.__name__] = wrapped
    return make


@_branch
def softmax(python: Function) -> Function:
    def call(input: torch.Tensor, dim: int = -1, dtype: torch.dtype | None = None) -> torch.Tensor:
        half_to_float = dtype is torch.float32 and input.dtype is torch.float16
        if dtype in (None, input.dtype) or half_to_float:
            return route("_softmax", "softmax", input, dim, half_to_float)
        return python(input, dim, dtype)

    return call


@_branch
def softmax_backward(python: Function) -> Function:
    def call(
        grad_output: torch.Tensor, output: torch.Tensor, dim: int, input_dtype: torch.dtype
    ) -> torch.Tensor:
        arguments = (grad_output, output, dim, input_dtype)
        return route("_softmax_backward_data", "softmax_backward", *arguments)

    return call


@_branch
def rms_norm(python: Function) -> Function:
    def call(
        x: torch.Tensor, normalized_shape: Any, weight: Any = None, eps: float = 1e-5
    ) -> torch.Tensor:
        shape = (
            (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        )
        # C++ takes the normalized shape from the weight.
        if weight is None or tuple(weight.shape) != shape:
            return python(x, normalized_shape, weight, eps)
        return route("rms_norm", "rms_norm", x, weight, eps)

    return call


@_branch
def mm(python: Function) -> Function:
    def call(input: torch.Tensor, mat2: torch.Tensor) -> torch.Tensor:
        return route("mm", "mm", input, mat2)

    return call


@_branch
def mm_out(python: Function) -> Function:
    def call(input: torch.Tensor, mat2: torch.Tensor, *, out: torch.Tensor) -> torch.Tensor:
        return route("mm.out", "mm.out", input, mat2, out=out)

    return call


@_branch
def bmm(python: Function) -> Function:
    def call(input: torch.Tensor, mat2: torch.Tensor) -> torch.Tensor:
        return route("bmm", "bmm", input, mat2)

    return call


@_branch
def addmm(python: Function) -> Function:
    def call(
        input: torch.Tensor,
        mat1: torch.Tensor,
        mat2: torch.Tensor,
        *,
        beta: Any = 1,
        alpha: Any = 1,
    ) -> torch.Tensor:
        return route("addmm", "addmm", input, mat1, mat2, beta=beta, alpha=alpha)

    return call
