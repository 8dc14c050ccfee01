# SPDX-License-Identifier: Apache-2.0
"""Operations that index by data: gather, histogram; and regions mapped over elements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triton_cpu.codegen.place import Place
from triton_cpu.codegen.regions import apply_region
from triton_cpu.codegen.registry import handles
from triton_cpu.codegen.values import Splat, Tensor
from triton_cpu.llvm.emit import I64, Value

if TYPE_CHECKING:
    from triton_cpu.codegen.lowering import Lowering
    from triton_cpu.ttir import Operation


@handles("tt.gather")
def gather(f: Lowering, operation: Operation) -> None:
    f.flush()
    source = f.dense(f.settled_tensor(operation.operands[0]))
    indices = f.settled_tensor(operation.operands[1])
    axis = operation.integer("axis")
    result = f.allocate(indices.shape, source.type)
    last = f.e.const(I64, source.shape[axis] - 1)

    def body(place: Place) -> None:
        # An index out of range is the program's error; it must not read foreign memory.
        index = f.e.resize(indices.at(f, place), "i64")
        inside = f.e.select(f.e.compare("ugt", index, last), f.e.const(I64, 0), index)
        base = [*place.base[:axis], inside, *place.base[axis + 1 :]]
        result.store(f, place, f.element(source, base))

    f.each_chunk(indices.shape, 1, body)
    f.bind(operation.results[0], result)


@handles("tt.histogram")
def histogram(f: Lowering, operation: Operation) -> None:
    f.flush()
    e = f.e
    kind = operation.result_types[0]
    assert kind.shape is not None
    source = f.settled_tensor(operation.operands[0])
    mask = f.settled_tensor(operation.operands[1]) if len(operation.operands) > 1 else None
    counts = f.allocate(kind.shape, kind.scalar)
    f.fill(counts, Splat(kind.shape, e.const(kind.scalar, 0)))
    bins = e.const(I64, kind.shape[0])

    def body(place: Place) -> None:
        index = e.resize(source.at(f, place), "i64")
        counted = e.compare("ult", index, bins)
        if mask is not None:
            counted = e.binary("and", counted, mask.at(f, place))

        def add() -> None:
            pointer = e.gep(kind.scalar, counts.pointer, index)
            e.store(e.add(e.load(kind.scalar, pointer), e.const(kind.scalar, 1)), pointer)

        e.if_then(counted, add)

    f.each_chunk(source.shape, 1, body)
    f.bind(operation.results[0], counts)


@handles("tt.map_elementwise")
def map_elementwise(f: Lowering, operation: Operation) -> None:
    """``pack`` elements at a time go through a scalar region."""
    f.flush()
    pack = operation.integer("pack", 1)
    inputs: list[Tensor] = [f.settled_tensor(name) for name in operation.operands]
    shape = inputs[0].shape
    if pack > 1:
        inputs = [f.dense(tensor) for tensor in inputs]
    results = [f.allocate(shape, kind.scalar) for kind in operation.result_types]
    total = 1
    for size in shape:
        total *= size

    def body(first: Value) -> None:
        places = [_place_of(f, f.e.add(first, f.e.const(I64, n)), shape) for n in range(pack)]
        values = [tensor.at(f, place) for tensor in inputs for place in places]
        made = run_scalar_region(f, operation, values)
        for number, result in enumerate(results):
            for n, place in enumerate(places):
                result.store(f, place, made[number * pack + n])

    f.e.loop(f.e.const(I64, 0), f.e.const(I64, total), pack, body)
    for name, result in zip(operation.results, results, strict=True):
        f.bind(name, result)


def run_scalar_region(f: Lowering, operation: Operation, values: list[Value]) -> list[Value]:
    return apply_region(f, operation, values)


def _place_of(f: Lowering, index: Value, shape: tuple[int, ...]) -> Place:
    """The element with a row-major number."""
    base = []
    rest = index
    for size in reversed(shape):
        base.append(f.e.binary("and", rest, f.e.const(I64, size - 1)))
        rest = f.e.binary("lshr", rest, f.e.const(I64, size.bit_length() - 1))
    return Place(base[::-1], ((0,),) * len(shape), 1, {})
