# SPDX-License-Identifier: Apache-2.0
"""The open group: operations of one shape that will share one loop nest.

Only what somebody outside the nest reads is written to memory. The nest visits the tensor box by
box; a box's lanes fill vector registers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from triton_cpu.codegen.overlap import conflict, detour
from triton_cpu.codegen.place import Lanes, Place, box_extents, box_lanes
from triton_cpu.codegen.regions import combine, identity, is_plain
from triton_cpu.codegen.values import Buffer, Pending, Separable, Tensor
from triton_cpu.llvm.emit import I1, I8, I64, Type, Value

if TYPE_CHECKING:
    from triton_cpu.codegen.lowering import Lowering
    from triton_cpu.ttir import Operation


@dataclass(eq=False)
class Reduction:
    """A tt.reduce: its inputs have the group's shape."""

    operation: Operation
    inputs: list[Tensor]
    axis: int


class Store(Pending):
    """A tt.store, which has no result. ``write`` puts a place of a tensor behind pointers."""

    __slots__ = ("stored", "write")

    def __init__(
        self,
        operation: Operation,
        shape: tuple[int, ...],
        type: Type,
        write: Callable[[Lowering, Place, Tensor, Tensor], None],
        stored: Tensor,
        pointers: Tensor,
    ) -> None:
        def rule(f: Lowering, place: Place) -> Value:
            write(f, place, stored, pointers)
            return f.e.const(I8, 0)

        super().__init__(operation, shape, type, rule, pointers)
        self.write = write
        self.stored = stored


@dataclass(eq=False)
class Group:
    shape: tuple[int, ...] | None = None
    axis: int | None = None
    """The axis that the group's reductions share."""
    items: list[Pending | Reduction] = field(default_factory=list)
    guarded: list[tuple[Separable, Separable]] = field(default_factory=list)
    """A store's pointers and those of an earlier access that may overlap them."""

    @property
    def accesses(self) -> list[Pending]:
        return [item for item in self.items if isinstance(item, Pending) and item.access]


def add_pending(f: Lowering, item: Pending) -> None:
    """Adds an operation; a group of another shape is written out first."""
    if f.group.items and f.group.shape != item.shape:
        f.flush()
    f.group.shape = item.shape
    f.group.items.append(item)


def add_reduction(f: Lowering, item: Reduction) -> None:
    shape = item.inputs[0].shape
    stores = any(pending.operation.name == "tt.store" for pending in f.group.accesses)
    if f.group.items and (
        f.group.shape != shape or f.group.axis not in (None, item.axis) or stores
    ):
        f.flush()
    f.group.shape = shape
    f.group.axis = item.axis
    f.group.items.append(item)


def _order(shape: tuple[int, ...], accesses: list[Pending]) -> tuple[int, ...]:
    """The dimensions, outermost first: the last is the one that most accesses run along."""
    default = tuple(range(len(shape)))
    votes: dict[int, int] = {}
    for item in accesses:
        if isinstance(item.access, Separable):
            for d, stride in item.access.strides.items():
                if stride.constant == 1 and shape[d] >= 4:
                    votes[d] = votes.get(d, 0) + 1
    if not votes:
        return default
    best = max(votes, key=lambda d: (votes[d], d))
    return (*(d for d in default if d != best), best)


def runs_along(group: Group, pointers: Tensor) -> bool:
    """Whether the nest would run along the dimension in which these pointers are a run."""
    assert group.shape is not None
    last = _order(group.shape, group.accesses)[-1] if group.shape else None
    if last is None or not isinstance(pointers, Separable):
        return False
    stride = pointers.strides.get(last)
    return stride is not None and stride.constant == 1


def emit_group(f: Lowering, group: Group) -> None:
    _Nest(f, group).emit()


class _Nest:
    def __init__(self, f: Lowering, group: Group) -> None:
        assert group.shape is not None
        self.f = f
        self.group = group
        self.shape = group.shape
        self.pending = [item for item in group.items if isinstance(item, Pending)]
        self.reductions = [item for item in group.items if isinstance(item, Reduction)]
        types = [item.type for item in self.pending]
        types += [tensor.type for item in self.reductions for tensor in item.inputs]
        width = f.lanes_for(*types)
        if not all(is_plain(item.operation.regions[0]) for item in self.reductions):
            width = 1
        self.order = _order(self.shape, group.accesses)
        self.extents = box_extents(self.shape, self.order, width)
        self.lanes: Lanes = box_lanes(self.extents, self.order)
        self.width = len(self.lanes[0]) if self.lanes else 1
        self.live = self._live()
        self.targets: dict[Pending, Buffer | Separable] = {}

    def _live(self) -> dict[Pending, Buffer]:
        inside = {id(item.operation) for item in self.group.items}
        live = {}
        for item in self.pending:
            if not item.operation.results:
                continue
            uses = self.f.uses.get(item.operation.results[0], ())
            if any(id(use) not in inside for use in uses):
                live[item] = self._reused(item, inside) or self.f.allocate(
                    self.shape, item.type, self.order
                )
        return live

    def _reused(self, item: Pending, inside: set[int]) -> Buffer | None:
        """An operand's memory, where nobody reads the operand after this nest."""
        if item.access is not None:
            return None
        for name in item.operation.operands:
            found = self.f.env.get(name)
            if isinstance(found, Pending):
                found = found.value
            if (
                isinstance(found, Buffer)
                and found.type == item.type
                and found.shape == self.shape
                and not found.shared
                and found.region == self.f.region
                and len(set(self.f.uses[name])) == 1
                and self.f.uses[name][0] is item.operation
            ):
                return Buffer(found.shape, found.type, found.pointer, found.strides)
        return None

    def emit(self) -> None:
        f = self.f
        f.emitting = set(self.pending)
        if self.reductions:
            self._reduce()
        elif self.group.guarded and self.extents != self.shape:
            self._guard()
        else:
            f.each_step(self.shape, self.extents, self.order, self._walk)
        f.emitting = set()
        for item, buffer in self.live.items():
            buffer.region = f.region
            item.value = buffer

    def _place(self, base: list[Value]) -> Place:
        return Place(base, self.lanes, self.width, {})

    def _guard(self) -> None:
        """The nest, and after it the copies of what could not be stored at once.

        A nest of one step needs none of this: within a step the program's order holds.
        """
        f = self.f
        overlap = conflict(f, self.group.guarded)
        stores = [item for item in self.pending if isinstance(item, Store)]
        buffers = [f.allocate(self.shape, item.stored.type, self.order) for item in stores]
        detours = [
            detour(f, item.access, overlap, buffer, self.lanes)
            for item, buffer in zip(stores, buffers, strict=True)
            if isinstance(item.access, Separable)
        ]
        direct = [pointers for pointers in detours if pointers is not None]
        possible = len(direct) == len(stores)
        self.targets = dict(zip(stores, direct if possible else buffers, strict=True))
        f.each_step(self.shape, self.extents, self.order, self._walk)

        def copies() -> None:
            for item, buffer in zip(stores, buffers, strict=True):
                self._copy(item, buffer)

        if possible:
            f.e.if_then(overlap, copies)
        else:
            copies()

    def _copy(self, item: Store, buffer: Buffer) -> None:
        f = self.f

        def step(base: list[Value]) -> None:
            assert item.access is not None
            item.write(f, self._place(base), buffer, item.access)

        f.each_step(self.shape, self.extents, self.order, step)

    def _walk(self, base: list[Value]) -> None:
        self._visit(base)

    def _visit(self, base: list[Value]) -> Place:
        place = self._place(base)
        for item in self.pending:
            if item.operation.results:
                if item in self.live:
                    self.live[item].store(self.f, place, item.at(self.f, place))
                elif item.access is not None:
                    item.at(self.f, place)
            elif isinstance(item, Store) and item in self.targets:
                self._send(item, place)
            else:
                item.rule(self.f, place)
        return place

    def _send(self, item: Store, place: Place) -> None:
        """Writes a place of what a guarded nest stores."""
        target = self.targets[item]
        if isinstance(target, Buffer):
            target.store(self.f, place, item.stored.at(self.f, place))
        else:
            item.write(self.f, place, item.stored, target)

    # -- reductions ----------------------------------------------------------------------------

    def _reduce(self) -> None:
        f, e = self.f, self.f.e
        axis = self.reductions[0].axis
        accumulators: list[list[tuple[Type, Value]]] = []
        results: list[list[Buffer | None]] = []
        rest = self.shape[:axis] + self.shape[axis + 1 :]
        for item in self.reductions:
            kinds = [tensor.type for tensor in item.inputs]
            lanes = self.width if self.width > 1 else 0
            accumulators.append(
                [(kind.with_lanes(lanes), e.slot(_held(kind).with_lanes(lanes))) for kind in kinds]
            )
            results.append([f.allocate(rest, kind) if rest else None for kind in kinds])
        starts = [identity(item.operation, item.inputs[0].type) for item in self.reductions]
        peel = any(start is None for start in starts)

        def visit(base: list[Value], first: bool) -> None:
            place = self._visit(base)
            for item, slots in zip(self.reductions, accumulators, strict=True):
                values = [tensor.at(f, place) for tensor in item.inputs]
                if not first:
                    old = [_read(f, kind, slot) for kind, slot in slots]
                    values = combine(f, item.operation, old, values)
                for (_, slot), value in zip(slots, values, strict=True):
                    _write(f, value, slot)

        def inner(base: list[Value]) -> None:
            def along(index: Value, first: bool = False) -> None:
                here = list(base)
                here[axis] = index
                visit(here, first)

            step = self.extents[axis]
            zero = e.const(I64, 0)
            begin = zero
            if peel or self.shape[axis] <= step:
                along(zero, True)
                begin = e.const(I64, step)
            else:
                for start, slots in zip(starts, accumulators, strict=True):
                    assert start is not None
                    _write(f, e.const(slots[0][0], start), slots[0][1])
            if self.shape[axis] > step:
                e.loop(begin, e.const(I64, self.shape[axis]), step, along)
            self._finish(base, axis, accumulators, results)

        outer = [d for d in self.order if d != axis]
        f.each_step(self.shape, self.extents, outer, inner)
        for item, buffers in zip(self.reductions, results, strict=True):
            for name, buffer in zip(item.operation.results, buffers, strict=True):
                if buffer is not None:
                    f.bind(name, buffer)

    def _finish(
        self,
        base: list[Value],
        axis: int,
        accumulators: list[list[tuple[Type, Value]]],
        results: list[list[Buffer | None]],
    ) -> None:
        """Combines the lanes that lie along the axis and writes the results."""
        f = self.f
        for item, slots, buffers in zip(self.reductions, accumulators, results, strict=True):
            values = [_read(f, kind, slot) for kind, slot in slots]
            lanes = list(zip(*self.lanes, strict=True)) if self.lanes else [()]
            extent = self.extents[axis]
            while extent > 1:
                extent //= 2
                low = [n for n, lane in enumerate(lanes) if lane[axis] < extent]
                partner = {lane: n for n, lane in enumerate(lanes)}
                high = [
                    partner[(*lanes[n][:axis], lanes[n][axis] + extent, *lanes[n][axis + 1 :])]
                    for n in low
                ]
                a = [_pick(f, value, low) for value in values]
                b = [_pick(f, value, high) for value in values]
                values = combine(f, item.operation, a, b)
                lanes = [lanes[n] for n in low]
            kept = [lane[:axis] + lane[axis + 1 :] for lane in lanes]
            here = base[:axis] + base[axis + 1 :]
            place = Place(here, tuple(zip(*kept, strict=True)), len(kept), {})
            for name, value, buffer in zip(item.operation.results, values, buffers, strict=True):
                if buffer is None:
                    f.bind(name, value)
                else:
                    buffer.store(f, place, value)


def _held(kind: Type) -> Type:
    return I8 if kind == I1 else kind


def _read(f: Lowering, kind: Type, slot: Value) -> Value:
    held = _held(Type(kind.scalar)).with_lanes(kind.lanes)
    value = f.e.load(held, slot)
    return f.e.cast("trunc", value, "i1") if kind.scalar == "i1" else value


def _write(f: Lowering, value: Value, slot: Value) -> None:
    if value.type.scalar == "i1":
        value = f.e.resize(value, "i8", signed=False)
    f.e.store(value, slot)


def _pick(f: Lowering, value: Value, lanes: list[int]) -> Value:
    if len(lanes) == 1:
        return f.e.extract(value, lanes[0])
    return f.e.shuffle(value, None, lanes)
