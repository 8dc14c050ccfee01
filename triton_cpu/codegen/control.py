# SPDX-License-Identifier: Apache-2.0
"""Loops, branches and calls. What a loop carries lives in slots that LLVM turns into registers.

A carried tensor whose every turn only moves its base (a pointer that advances) is kept as that
base; the loop is written again with a buffer for a tensor that turns out to change otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from triton_cpu.codegen.group import Group
from triton_cpu.codegen.registry import handles
from triton_cpu.codegen.values import Buffer, Separable, Tensor
from triton_cpu.llvm.emit import I1, I8, Type, Value

if TYPE_CHECKING:
    from triton_cpu.codegen.lowering import Bound, Lowering
    from triton_cpu.ttir import Block, MlirType, Operation


class NeedsBuffer(Exception):
    """A carried tensor does more than move its base. The argument is its position."""


class ScalarSlot:
    def __init__(self, f: Lowering, kind: Type) -> None:
        self.kind = kind
        self.slot = f.e.slot(I8 if kind == I1 else kind)

    def read(self, f: Lowering) -> Bound:
        if self.kind == I1:
            return f.e.cast("trunc", f.e.load(I8, self.slot), "i1")
        return f.e.load(self.kind, self.slot)

    def write(self, f: Lowering, value: Bound) -> None:
        assert isinstance(value, Value)
        if self.kind == I1:
            value = f.e.resize(value, "i8", signed=False)
        f.e.store(value, self.slot)


class BaseSlot:
    """A separable tensor of which only the base changes."""

    def __init__(self, f: Lowering, first: Separable, position: int) -> None:
        self.first = first
        self.position = position
        self.slot = f.e.slot(first.base.type)

    def read(self, f: Lowering) -> Bound:
        base = f.e.load(self.first.base.type, self.slot)
        first = self.first
        return Separable(first.shape, base, first.strides, first.functions, first.pointee)

    def write(self, f: Lowering, value: Bound) -> None:
        if not isinstance(value, Separable) or value.terms() != self.first.terms():
            raise NeedsBuffer(self.position)
        f.e.store(value.base, self.slot)


class BufferSlot:
    def __init__(self, buffer: Buffer) -> None:
        self.buffer = buffer

    def read(self, f: Lowering) -> Bound:
        return self.buffer

    def write(self, f: Lowering, value: Bound) -> None:
        assert isinstance(value, Tensor)
        held = self.buffer
        if isinstance(value, Buffer) and (value.pointer, value.strides) == (
            held.pointer,
            held.strides,
        ):
            return
        f.fill(self.buffer, value)


Slot = ScalarSlot | BaseSlot | BufferSlot


def slot_for(f: Lowering, kind: MlirType) -> Slot:
    """A slot that can hold any value of a type."""
    if kind.shape is None:
        return ScalarSlot(f, kind.scalar)
    return BufferSlot(f.allocate(kind.shape, kind.scalar))


def write_slots(f: Lowering, slots: Sequence[Slot], values: Sequence[Bound]) -> None:
    """Writes all slots as if at once: values may read what other slots hold."""
    held = {slot.buffer.pointer.text for slot in slots if isinstance(slot, BufferSlot)}
    moving = [
        n
        for n, (slot, value) in enumerate(zip(slots, values, strict=True))
        if isinstance(slot, BufferSlot)
        and not (isinstance(value, Buffer) and value.pointer == slot.buffer.pointer)
    ]
    ready = list(values)
    if len(moving) > 1 or any(_reads(ready[n], held) for n in moving):
        for n in moving:
            value = ready[n]
            assert isinstance(value, Tensor)
            if _reads(value, held):
                copy = f.allocate(value.shape, value.type)
                f.fill(copy, value)
                ready[n] = copy
    for slot, value in zip(slots, ready, strict=True):
        if not isinstance(slot, BufferSlot):
            slot.write(f, value)
    for slot, value in zip(slots, ready, strict=True):
        if isinstance(slot, BufferSlot):
            slot.write(f, value)


def _reads(value: Bound, pointers: set[str]) -> bool:
    if not isinstance(value, Tensor):
        return False
    if isinstance(value, Buffer) and value.pointer.text in pointers:
        return True
    return any(_reads(source, pointers) for source in value.sources())


class _Checkpoint:
    """The state to return to when a loop must be written again."""

    def __init__(self, f: Lowering) -> None:
        self.lines = len(f.e.lines)
        self.entry = len(f.e.entry)
        self.globals = len(f.e.globals)
        self.block = f.e.block
        self.env = dict(f.env)
        self.uses = {name: list(uses) for name, uses in f.uses.items()}
        self.buffers = [
            (value, value.region, value.shared)
            for value in f.env.values()
            if isinstance(value, Buffer)
        ]
        self.numbers = (f.stack_bytes, f.scratch_bytes, f.region)

    def restore(self, f: Lowering) -> None:
        del f.e.lines[self.lines :]
        del f.e.entry[self.entry :]
        del f.e.globals[self.globals :]
        f.e.block = self.block
        f.env = dict(self.env)
        f.uses = {name: list(uses) for name, uses in self.uses.items()}
        f.stack_bytes, f.scratch_bytes, f.region = self.numbers
        for buffer, region, shared in self.buffers:
            buffer.region, buffer.shared = region, shared
        f.group = Group()
        f.emitting = set()


def enter(f: Lowering) -> int:
    """Begins a new region instance; returns the outer one."""
    outer = f.region
    f.regions += 1
    f.region = f.regions
    return outer


def carried(
    f: Lowering, names: Sequence[str], kinds: Sequence[MlirType], forced: set[int]
) -> list[Slot]:
    """Slots that begin with the values of ``names``."""
    values = [f.settled(name) for name in names]
    values = [f.settled(name) for name in names]
    slots: list[Slot] = []
    for n, (name, value, kind) in enumerate(zip(names, values, kinds, strict=True)):
        if isinstance(value, Value):
            slots.append(ScalarSlot(f, value.type))
        elif n not in forced and isinstance(value, Separable):
            slots.append(BaseSlot(f, value, n))
        elif f.owned(value, name):
            assert isinstance(value, Buffer)
            slots.append(BufferSlot(value))
            continue
        else:
            slots.append(slot_for(f, kind))
        slots[-1].write(f, value)
    return slots


def take(f: Lowering, names: Sequence[str], slots: Sequence[Slot]) -> None:
    """Binds names to what the slots hold; buffers belong to the region at hand."""
    for name, slot in zip(names, slots, strict=True):
        value = slot.read(f)
        if isinstance(value, Buffer):
            value.region = f.region
            value.shared = False
        f.bind(name, value)


def _with_retry(f: Lowering, operation: Operation, write: object) -> None:
    f.flush()
    forced: set[int] = set()
    while True:
        checkpoint = _Checkpoint(f)
        try:
            write(f, operation, forced)  # type: ignore[operator]
            return
        except NeedsBuffer as need:
            checkpoint.restore(f)
            forced.add(need.args[0])


@handles("scf.for")
def for_loop(f: Lowering, operation: Operation) -> None:
    _with_retry(f, operation, _write_for)


def _write_for(f: Lowering, operation: Operation, forced: set[int]) -> None:
    e = f.e
    low, high, step = (f.scalar(name) for name in operation.operands[:3])
    block = operation.regions[0][0]
    slots = carried(f, operation.operands[3:], operation.operand_types[3:], forced)
    counter = ScalarSlot(f, low.type)
    counter.write(f, low)
    head, body, done = (e.fresh(part) for part in ("for", "body", "done"))
    e.branch(head)
    e.label(head)
    index = counter.read(f)
    assert isinstance(index, Value)
    below = "ult" if operation.flag("unsignedCmp") else "slt"
    e.branch_if(e.compare(below, index, high), body, done)
    e.label(body)
    outer = enter(f)
    f.bind(block.arguments[0], index)
    take(f, block.arguments[1:], slots)
    end = f.run_block(block)
    _leave(f, slots, end.operands)
    counter.write(f, e.binary("add", index, step))
    e.branch(head)
    e.label(done)
    f.region = outer
    take(f, operation.results, slots)


def _leave(f: Lowering, slots: Sequence[Slot], names: Sequence[str]) -> None:
    """Flushes and writes what a block yields."""
    f.flush()
    write_slots(f, slots, [f.settled(name) for name in names])


@handles("scf.while")
def while_loop(f: Lowering, operation: Operation) -> None:
    _with_retry(f, operation, _write_while)


def _write_while(f: Lowering, operation: Operation, forced: set[int]) -> None:
    e = f.e
    everything = set(range(len(operation.operands)))
    slots = carried(f, operation.operands, operation.operand_types, everything)
    before, after = operation.regions[0][0], operation.regions[1][0]
    passed = [slot_for(f, kind) for kind in after.argument_types]
    head, body, done = (e.fresh(part) for part in ("while", "body", "done"))
    e.branch(head)
    e.label(head)
    outer = enter(f)
    take(f, before.arguments, slots)
    end = f.run_block(before)
    f.flush()
    condition = f.scalar(end.operands[0])
    _leave(f, passed, end.operands[1:])
    e.branch_if(condition, body, done)
    e.label(body)
    enter(f)
    take(f, after.arguments, passed)
    end = f.run_block(after)
    _leave(f, slots, end.operands)
    e.branch(head)
    e.label(done)
    f.region = outer
    take(f, operation.results, passed)


@handles("scf.if")
def if_else(f: Lowering, operation: Operation) -> None:
    f.flush()
    e = f.e
    condition = f.scalar(operation.operands[0])
    slots = [slot_for(f, kind) for kind in operation.result_types]
    names = [e.fresh(part) for part in ("then", "else", "after")]
    has_else = bool(operation.regions[1])
    e.branch_if(condition, names[0], names[1] if has_else else names[2])
    for label, region in zip(names, operation.regions, strict=False):
        if not region:
            continue
        e.label(label)
        outer = enter(f)
        end = f.run_block(region[0])
        _leave(f, slots, end.operands)
        f.region = outer
        e.branch(names[2])
    e.label(names[2])
    take(f, operation.results, slots)


@handles("tt.call")
def call(f: Lowering, operation: Operation) -> None:
    """Functions marked noinline are written out where they are called: nothing is shared."""
    f.flush()
    callee = f.module.functions.get(operation.attributes["callee"].lstrip("@").strip('"'))
    if callee is None:
        raise f.refuse(f"unknown function {operation.attributes['callee']}")
    values = [f.settled(name) for name in operation.operands]
    for value in values:
        if isinstance(value, Tensor):
            f.share(value)
    outer_env, outer_uses = f.env, f.uses
    f.env = dict(zip(callee.blocks[0].arguments, values, strict=True))
    f.uses = callee.uses
    outer = enter(f)
    results = run_blocks(f, callee.blocks, operation.result_types)
    f.region = outer
    f.env, f.uses = outer_env, outer_uses
    for name, value in zip(operation.results, results, strict=True):
        f.bind(name, value)


def run_blocks(f: Lowering, blocks: list[Block], kinds: Sequence[MlirType]) -> list[Bound]:
    """Runs a body of one or more blocks to its return; gives the returned values."""
    e = f.e
    if len(blocks) == 1:
        end = f.run_block(blocks[0])
        f.flush()
        values = [f.settled(name) for name in end.operands]
        for value in values:
            if isinstance(value, Tensor):
                f.share(value)
        return values
    results = [slot_for(f, kind) for kind in kinds]
    labels = {block.label: e.fresh("block") for block in blocks}
    slots = {
        block.label: [slot_for(f, kind) for kind in block.argument_types] for block in blocks[1:]
    }
    after = e.fresh("returned")
    for number, block in enumerate(blocks):
        if number:
            e.label(labels[block.label])
            enter(f)
            take(f, block.arguments, slots[block.label])
        end = f.run_block(block)
        f.flush()
        if end.name.endswith("return"):
            write_slots(f, results, [f.settled(name) for name in end.operands])
            e.branch(after)
        elif end.name == "cf.br":
            write_slots(f, slots[end.successors[0]], [f.settled(name) for name in end.operands])
            e.branch(labels[end.successors[0]])
        elif end.name == "cf.cond_br":
            _branch(f, end, labels, slots)
        else:
            raise f.refuse(f"a block that ends in {end.name}")
    e.label(after)
    return [slot.read(f) for slot in results]


def _branch(
    f: Lowering, end: Operation, labels: dict[str, str], slots: dict[str, list[Slot]]
) -> None:
    e = f.e
    condition = f.scalar(end.operands[0])
    count = len(slots[end.successors[0]])
    parts = (end.operands[1 : 1 + count], end.operands[1 + count :])
    edges = [e.fresh("edge"), e.fresh("edge")]
    e.branch_if(condition, *edges)
    for edge, target, names in zip(edges, end.successors, parts, strict=True):
        e.label(edge)
        write_slots(f, slots[target], [f.settled(name) for name in names])
        e.branch(labels[target])
