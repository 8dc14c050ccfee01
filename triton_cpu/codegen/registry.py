# SPDX-License-Identifier: Apache-2.0
"""The table of operations: name -> handler. A new operation is one entry."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from triton_cpu.llvm.emit import Value

if TYPE_CHECKING:
    from triton_cpu.codegen.lowering import Lowering
    from triton_cpu.ttir import Operation

Handler = Callable[["Lowering", "Operation"], None]
"""Lowers one operation: reads operands from and binds results in the Lowering."""
Elementwise = Callable[["Lowering", "Operation", list[Value]], Value]
"""Computes one operation on scalars or vectors of equal width."""

HANDLERS: dict[str, Handler] = {}
ELEMENTWISE: dict[str, Elementwise] = {}
"""Operations that work element by element; their handler is one for all."""


def handles(*names: str) -> Callable[[Handler], Handler]:
    def register(handler: Handler) -> Handler:
        for name in names:
            HANDLERS[name] = handler
        return handler

    return register


def elementwise(*names: str) -> Callable[[Elementwise], Elementwise]:
    def register(compute: Elementwise) -> Elementwise:
        for name in names:
            ELEMENTWISE[name] = compute
        return compute

    return register
