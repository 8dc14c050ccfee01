# SPDX-License-Identifier: Apache-2.0
"""Loads, stores and pointer arithmetic.

Order in memory is that of the program: a load or store joins the open group only where every
access in it provably touches the same element in the same chunk, or both are loads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from triton_cpu.codegen.group import Store, add_pending, runs_along
from triton_cpu.codegen.overlap import has_ends, same_elements
from triton_cpu.codegen.place import Place
from triton_cpu.codegen.registry import handles
from triton_cpu.codegen.values import Lazy, Pending, Separable, Splat, Tensor
from triton_cpu.llvm.emit import I8, I32, I64, PTR, Type, Value

if TYPE_CHECKING:
    from triton_cpu.codegen.lowering import Lowering
    from triton_cpu.ttir import Operation


def memory_type(kind: Type) -> Type:
    """How elements travel to and from memory: small floats and booleans as integers."""
    if kind.scalar in ("half", "bfloat"):
        return kind.of("i16")
    return kind.of("i8") if kind.scalar == "i1" else kind


def to_memory(f: Lowering, value: Value) -> Value:
    if value.type.scalar == "i1":
        return f.e.resize(value, "i8", signed=False)
    return f.e.bitcast(value, memory_type(value.type))


def from_memory(f: Lowering, value: Value, kind: Type) -> Value:
    if kind.scalar == "i1":
        return f.e.compare("ne", value, f.e.const(value.type, 0))
    return f.e.bitcast(value, kind.with_lanes(value.type.lanes))


@handles("tt.addptr")
def addptr(f: Lowering, operation: Operation) -> None:
    kind = operation.result_types[0]
    element = memory_type(kind.pointee.scalar)
    if element.scalar[0] == "i" and element.bits < 8:
        element = I8
    name = operation.results[0]
    if kind.shape is None:
        offset = f.e.resize(f.scalar(operation.operands[1]), "i64")
        f.bind(name, f.e.gep(element, f.scalar(operation.operands[0]), offset))
        return
    f.settled(operation.operands[0])
    f.settled(operation.operands[1])
    pointers = f.settled_tensor(operation.operands[0])
    indices = f.settled_tensor(operation.operands[1])
    f.bind(name, offset_pointers(f, pointers, indices, element))


def offset_pointers(f: Lowering, pointers: Tensor, indices: Tensor, element: Type) -> Tensor:
    e = f.e
    if isinstance(pointers, Splat):
        pointers = Separable(pointers.shape, pointers.value, {}, (), element)
    if isinstance(pointers, Separable) and _same_size(pointers.pointee, element):
        if isinstance(indices, Splat):
            indices = Separable(indices.shape, indices.value, {})
        if isinstance(indices, Separable):
            base = e.gep(element, pointers.base, e.resize(indices.base, "i64"))
            strides = dict(pointers.strides)
            for d, stride in indices.strides.items():
                wide = e.resize(stride, "i64")
                strides[d] = e.add(strides[d], wide) if d in strides else wide
            functions = (*pointers.functions, *indices.functions)
            return Separable(pointers.shape, base, strides, functions, element)
        f.share(indices)
        functions = (*pointers.functions, indices)
        return Separable(pointers.shape, pointers.base, pointers.strides, functions, element)
    f.share(pointers)
    f.share(indices)

    def rule(f: Lowering, place: Place) -> Value:
        offset = f.e.resize(indices.at(f, place), "i64")
        return f.e.gep(element, pointers.at(f, place), offset)

    return Lazy(pointers.shape, PTR, rule, [pointers, indices])


def _same_size(a: Type | None, b: Type) -> bool:
    return a is not None and a.bytes == b.bytes


# -- order of accesses -----------------------------------------------------------------------------


def admit_load(f: Lowering, pointers: Tensor) -> None:
    """Writes out the open group where a load could see its stores too early or too late."""
    for item in f.group.accesses:
        stored = item.operation.name == "tt.store"
        if stored and (f.group.guarded or not same_elements(item.access, pointers)):
            f.flush()
            return


def admit_store(
    f: Lowering, pointers: Tensor, mask: Tensor | None
) -> list[tuple[Separable, Separable]]:
    """Writes out the open group where a store may not join it.

    Returns the pairs of accesses that the nest has to hold against each other when it runs.
    """
    pairs = []
    for item in f.group.accesses:
        if same_elements(item.access, pointers):
            continue
        if not (has_ends(item.access) and has_ends(pointers)) or (
            mask is not None and _waits(mask)
        ):
            f.flush()
            return []
        assert isinstance(item.access, Separable)
        assert isinstance(pointers, Separable)
        pairs.append((pointers, item.access))
    if pairs and not runs_along(f.group, pointers):
        f.flush()
        return []
    return pairs


def _waits(tensor: Tensor) -> bool:
    """Whether the open group is yet to compute something of it."""
    if isinstance(tensor, Pending):
        return tensor.value is None
    return any(_waits(source) for source in tensor.sources())


# -- loads -----------------------------------------------------------------------------------------


def pointer_tensor(f: Lowering, tensor: Tensor, kind: Type) -> Tensor:
    if isinstance(tensor, Splat):
        return Separable(tensor.shape, tensor.value, {}, (), kind)
    return tensor


def load_at(
    f: Lowering,
    place: Place,
    pointers: Tensor,
    mask: Tensor | None,
    other: Tensor | None,
    kind: Type,
) -> Value:
    e = f.e
    memory = memory_type(kind)
    if place.width == 1:
        chosen = mask.at(f, place) if mask is not None else None
        spare = to_memory(f, other.at(f, place)) if other is not None else None
        value = load_one(f, memory, pointers.at(f, place), chosen, spare)
        return from_memory(f, value, kind)
    vector = memory.with_lanes(place.width)
    m = mask.at(f, place) if mask is not None else None
    o = to_memory(f, other.at(f, place)) if other is not None else e.const(vector, 0)
    if isinstance(pointers, Separable) and pointers.is_contiguous(place.lanes):
        start = pointers.start(f, place)
        value = _load_run(f, vector, start, m, o)
    elif isinstance(pointers, Separable) and not _strided(pointers, place):
        value = _load_runs(f, place, pointers, vector, m, o)
    else:
        value = f.gather(memory, pointers.at(f, place), m, o if m is not None else None)
    return from_memory(f, value, kind)


def _strided(pointers: Separable, place: Place) -> bool:
    """Whether the lanes' addresses are a fixed pattern, so that they never lie in a run."""
    varying = {d for d, part in enumerate(place.lanes) if any(part)}
    return not any(function.deps & varying for function in pointers.functions)


def _load_runs(
    f: Lowering, place: Place, pointers: Separable, vector: Type, m: Value | None, o: Value
) -> Value:
    """A gather that is a plain load where the addresses, known only now, follow each other.

    Indices such as ``offsets % N`` are of that kind almost always.
    """
    e = f.e
    all_pointers = pointers.at(f, place)
    addresses = e.cast("ptrtoint", all_pointers, "i64")
    first = e.extract(addresses, 0)
    size = vector.bytes
    wanted = e.binary(
        "add",
        e.splat(first, vector.lanes),
        e.lanes(I64, [size * lane for lane in range(vector.lanes)]),
    )
    same = e.compare("eq", addresses, wanted)
    bits = Type(f"i{vector.lanes}")
    run = e.compare(
        "eq",
        e.value(bits, f"bitcast {same.type} {same.text} to {bits}"),
        e.const(bits, -1),
    )
    slot = e.slot(vector)
    near, far, after = e.fresh("run"), e.fresh("gather"), e.fresh("loaded")
    e.branch_if(run, near, far)
    e.label(near)
    start = e.extract(all_pointers, 0)
    e.store(_load_run(f, vector, start, m, o), slot)
    e.branch(after)
    e.label(far)
    element = vector.with_lanes(0)
    e.store(f.gather(element, all_pointers, m, o if m is not None else None), slot)
    e.branch(after)
    e.label(after)
    return e.load(vector, slot)


def _load_run(f: Lowering, vector: Type, start: Value, m: Value | None, o: Value) -> Value:
    if m is None:
        return f.e.load(vector, start)
    return f.e.call(
        f"llvm.masked.load.{vector.suffix}.p0",
        vector,
        [start, f.e.const(I32, vector.bytes), m, o],
    )


def load_one(
    f: Lowering, memory: Type, pointer: Value, mask: Value | None, other: Value | None
) -> Value:
    """A scalar; a masked-off one reads a stack slot in place of the address."""
    if mask is None or mask.constant == 1:
        return f.e.load(memory, pointer)
    spare = f.e.slot(memory)
    f.e.store(other if other is not None else f.e.const(memory, 0), spare)
    return f.e.load(memory, f.e.select(mask, pointer, spare))


@handles("tt.load")
def load(f: Lowering, operation: Operation) -> None:
    kind = operation.result_types[0]
    name = operation.results[0]
    if kind.shape is None:
        if any(item.operation.name == "tt.store" for item in f.group.accesses):
            f.flush()
        pointer, *rest = (f.scalar(x) for x in operation.operands)
        mask = rest[0] if rest else None
        other = to_memory(f, rest[1]) if len(rest) > 1 else None
        value = load_one(f, memory_type(kind.scalar), pointer, mask, other)
        f.bind(name, from_memory(f, value, kind.scalar))
        return
    f.settled(operation.operands[0])
    inputs = [f.tensor(x) for x in operation.operands]
    pointers = pointer_tensor(f, inputs[0], memory_type(kind.scalar))
    mask_tensor = inputs[1] if len(inputs) > 1 else None
    other_tensor = inputs[2] if len(inputs) > 2 else None
    if isinstance(mask_tensor, Splat) and mask_tensor.value.constant == 1:
        mask_tensor = other_tensor = None
    admit_load(f, pointers)
    if f.group.items and f.group.shape != kind.shape:
        f.flush()
    mask_tensor = _again(f, mask_tensor)
    other_tensor = _again(f, other_tensor)

    def rule(f: Lowering, place: Place) -> Value:
        return load_at(f, place, pointers, mask_tensor, other_tensor, kind.scalar)

    pending = Pending(operation, kind.shape, kind.scalar, rule, pointers)
    deps = pointers.deps
    for tensor in (mask_tensor, other_tensor):
        if tensor is not None:
            deps |= tensor.deps
    pending.deps = deps
    add_pending(f, pending)
    f.bind(name, pending)


def _again(f: Lowering, tensor: Tensor | None) -> Tensor | None:
    """A pending tensor's buffer, should its group have been written out meanwhile."""
    if isinstance(tensor, Pending) and tensor.value is not None:
        return tensor.value
    return tensor


# -- stores ----------------------------------------------------------------------------------------


def store_at(
    f: Lowering, place: Place, pointers: Tensor, value: Tensor, mask: Tensor | None
) -> None:
    e = f.e
    item = to_memory(f, value.at(f, place))
    if place.width == 1:
        chosen = mask.at(f, place) if mask is not None else None
        store_one(f, item, pointers.at(f, place), chosen)
        return
    m = mask.at(f, place) if mask is not None else None
    if isinstance(pointers, Separable) and pointers.is_contiguous(place.lanes):
        start = pointers.start(f, place)
        if m is None:
            e.store(item, start)
        else:
            e.call(
                f"llvm.masked.store.{item.type.suffix}.p0",
                None,
                [item, start, e.const(I32, item.type.bytes), m],
            )
    else:
        f.scatter(item, pointers.at(f, place), m)


def store_one(f: Lowering, item: Value, pointer: Value, mask: Value | None) -> None:
    """A scalar; a masked-off one goes to a stack slot in place of the address."""
    if mask is not None and mask.constant != 1:
        pointer = f.e.select(mask, pointer, f.e.slot(item.type))
    f.e.store(item, pointer)


@handles("tt.store")
def store(f: Lowering, operation: Operation) -> None:
    kind = operation.operand_types[1]
    if kind.shape is None:
        f.flush()
        pointer, item, *rest = (f.scalar(x) for x in operation.operands)
        store_one(f, to_memory(f, item), pointer, rest[0] if rest else None)
        return
    f.settled(operation.operands[0])
    pointers = pointer_tensor(f, f.tensor(operation.operands[0]), memory_type(kind.scalar))
    if f.group.items and (f.group.shape != kind.shape or f.group.axis is not None):
        f.flush()
    mask = f.tensor(operation.operands[2]) if len(operation.operands) > 2 else None
    pairs = admit_store(f, pointers, mask)
    value = f.tensor(operation.operands[1])
    mask = _again(f, mask)
    if isinstance(mask, Splat) and mask.value.constant == 1:
        mask = None

    def write(f: Lowering, place: Place, value: Tensor, pointers: Tensor) -> None:
        store_at(f, place, pointers, value, mask)

    f.group.guarded += pairs
    add_pending(f, Store(operation, kind.shape, kind.scalar, write, value, pointers))
