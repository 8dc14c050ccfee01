# SPDX-License-Identifier: Apache-2.0
"""Combiner regions of reductions and scans, applied to values."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from triton_cpu.codegen.constants import constant_value
from triton_cpu.codegen.registry import ELEMENTWISE
from triton_cpu.llvm.emit import Type, Value

if TYPE_CHECKING:
    from triton_cpu.codegen.lowering import Lowering
    from triton_cpu.ttir import Block, Operation


def is_plain(region: list[Block]) -> bool:
    """Whether whole vectors can go through it: one block of element-wise operations."""
    return len(region) == 1 and all(
        operation.name in ELEMENTWISE or operation.name == "arith.constant"
        for operation in region[0].operations[:-1]
    )


def identity(operation: Operation, kind: Type) -> float | int | None:
    """The neutral element of a combiner that is one known operation, else None."""
    block = operation.regions[0][0]
    if len(block.operations) != 2 or len(block.arguments) != 2:
        return None
    only = block.operations[0]
    if set(only.operands) != set(block.arguments):
        return None
    bits = kind.bits
    table: dict[str, float | int] = {
        "arith.addf": -0.0,
        "arith.mulf": 1.0,
        "arith.maxnumf": math.nan,
        "arith.minnumf": math.nan,
        "arith.maximumf": -math.inf,
        "arith.minimumf": math.inf,
        "arith.addi": 0,
        "arith.ori": 0,
        "arith.xori": 0,
        "arith.maxui": 0,
        "arith.muli": 1,
        "arith.andi": -1,
        "arith.minui": -1,
        "arith.maxsi": -(1 << (bits - 1)),
        "arith.minsi": (1 << (bits - 1)) - 1,
    }
    return table.get(only.name)


def combine(f: Lowering, operation: Operation, a: list[Value], b: list[Value]) -> list[Value]:
    """Applies the combiner to two tuples of scalars or vectors."""
    return apply_region(f, operation, [*a, *b])


def apply_region(f: Lowering, operation: Operation, values: list[Value]) -> list[Value]:
    """Runs a region on values; one that is not plain takes scalars only."""
    region = operation.regions[0]
    block = region[0]
    if not is_plain(region):
        from triton_cpu.codegen.control import run_blocks

        for name, value in zip(block.arguments, values, strict=True):
            f.bind(name, value)
        ends = next(b.operations[-1] for b in region if b.operations[-1].name.endswith("return"))
        kinds = ends.operand_types
        return [value for value in run_blocks(f, region, kinds) if isinstance(value, Value)]
    lanes = values[0].type.lanes
    local = dict(zip(block.arguments, values, strict=True))

    def read(name: str) -> Value:
        if name in local:
            return local[name]
        outer = f.scalar(name)
        return f.e.splat(outer, lanes) if lanes else outer

    for inner in block.operations[:-1]:
        if inner.name == "arith.constant":
            kind = inner.result_types[0].scalar
            number = constant_value(inner.attributes["value"], kind)
            value = f.e.const(kind.with_lanes(lanes), number)
        else:
            value = ELEMENTWISE[inner.name](f, inner, [read(name) for name in inner.operands])
        local[inner.results[0]] = value
    return [read(name) for name in block.operations[-1].operands]
