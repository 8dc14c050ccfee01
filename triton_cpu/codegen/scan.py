# SPDX-License-Identifier: Apache-2.0
"""tt.scan: an inclusive scan along one axis, vectorised across the other dimensions.

Along the last axis a row is scanned element by element: the combiner may be anything, and its order
of evaluation is that of the definition.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from triton_cpu.codegen.place import Place, box_extents, box_lanes
from triton_cpu.codegen.regions import combine, is_plain
from triton_cpu.codegen.registry import handles
from triton_cpu.codegen.values import Tensor
from triton_cpu.llvm.emit import I1, I8, I64, Value

if TYPE_CHECKING:
    from triton_cpu.codegen.lowering import Lowering
    from triton_cpu.ttir import Operation


@handles("tt.scan")
def scan(f: Lowering, operation: Operation) -> None:
    f.flush()
    axis = operation.integer("axis")
    reverse = operation.flag("reverse")
    inputs: list[Tensor] = [f.settled_tensor(name) for name in operation.operands]
    shape = inputs[0].shape
    results = [f.allocate(shape, tensor.type) for tensor in inputs]
    outer = [d for d in range(len(shape)) if d != axis]
    width = f.lanes_for(*(tensor.type for tensor in inputs))
    if not is_plain(operation.regions[0]):
        width = 1
    inner_shape = tuple(1 if d == axis else size for d, size in enumerate(shape))
    extents = box_extents(inner_shape, (axis, *outer), width)
    lanes = box_lanes(extents, (axis, *outer))
    count = len(lanes[0])
    slots = []
    for tensor in inputs:
        held = I8 if tensor.type == I1 else tensor.type
        slots.append(f.e.slot(held.with_lanes(count if count > 1 else 0)))

    def line(base: list[Value]) -> None:
        def step(index: Value, first: bool = False) -> None:
            here = list(base)
            here[axis] = index
            if reverse:
                last = f.e.const(I64, shape[axis] - 1)
                here[axis] = f.e.binary("sub", last, index)
            place = Place(here, lanes, count, {})
            values = [tensor.at(f, place) for tensor in inputs]
            if not first:
                old = [_read(f, value, slot) for value, slot in zip(values, slots, strict=True)]
                values = combine(f, operation, old, values)
            for value, slot, result in zip(values, slots, results, strict=True):
                held = f.e.resize(value, "i8", False) if value.type.scalar == "i1" else value
                f.e.store(held, slot)
                result.store(f, place, value)

        step(f.e.const(I64, 0), True)
        if shape[axis] > 1:
            f.e.loop(f.e.const(I64, 1), f.e.const(I64, shape[axis]), 1, step)

    steps = list(extents)
    f.each_step(shape, steps, outer, line)
    for name, result in zip(operation.results, results, strict=True):
        f.bind(name, result)


def _read(f: Lowering, like: Value, slot: Value) -> Value:
    if like.type.scalar == "i1":
        return f.e.cast("trunc", f.e.load(like.type.of("i8"), slot), "i1")
    return f.e.load(like.type, slot)
