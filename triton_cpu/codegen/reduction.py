# SPDX-License-Identifier: Apache-2.0
"""tt.reduce: joins the open group; its accumulators are vectors of the nest's lanes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triton_cpu.codegen.group import Reduction, add_reduction
from triton_cpu.codegen.lowering import DEFERRED
from triton_cpu.codegen.registry import handles
from triton_cpu.codegen.values import Pending

if TYPE_CHECKING:
    from triton_cpu.codegen.lowering import Lowering
    from triton_cpu.ttir import Operation


@handles("tt.reduce")
def reduce(f: Lowering, operation: Operation) -> None:
    axis = operation.integer("axis")
    inputs = [f.tensor(name) for name in operation.operands]
    inputs = [f.tensor(name) for name in operation.operands]
    add_reduction(f, Reduction(operation, inputs, axis))
    for item in f.group.items:
        if isinstance(item, Reduction) and item.operation is operation:
            item.inputs = [
                tensor.value if isinstance(tensor, Pending) and tensor.value else tensor
                for tensor in inputs
            ]
    for name in operation.results:
        f.bind(name, DEFERRED)
