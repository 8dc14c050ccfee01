# SPDX-License-Identifier: Apache-2.0
"""The state of one kernel's compilation: values by name, memory, the open group.

Handlers of operations (the other files) see a kernel through this class alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from triton_cpu.codegen.errors import CodegenError
from triton_cpu.codegen.group import Group, emit_group
from triton_cpu.codegen.options import CodegenOptions
from triton_cpu.codegen.place import Place, box_extents, box_lanes, scalar_place
from triton_cpu.codegen.registry import HANDLERS
from triton_cpu.codegen.values import Buffer, Pending, Tensor
from triton_cpu.llvm.emit import I1, I8, I64, PTR, Emitter, Type, Value
from triton_cpu.ttir import Block, Module, Operation

STACK_BUFFER = 4096
"""Bytes up to which a tile lives on the stack, where LLVM can keep it in registers."""
STACK_TOTAL = 96 * 1024
"""Threads of a C++ program may have small stacks; what exceeds this goes to scratch."""

Bound = Value | Tensor


class Deferred:
    """Stands for a result that the open group will bind when it is written out."""


DEFERRED = Deferred()


class Lowering:
    def __init__(self, module: Module, name: str, options: CodegenOptions) -> None:
        self.module = module
        self.name = name
        self.options = options
        self.e = Emitter()
        self.env: dict[str, Bound | Deferred] = {}
        self.uses: dict[str, list[Operation]] = {}
        self.group = Group()
        self.emitting: set[Pending] = set()
        self.region = 0
        self.regions = 0
        self.stack_bytes = 0
        self.scratch_bytes = 0
        self.current: Operation | None = None

    # -- errors --------------------------------------------------------------------------------

    def refuse(self, reason: str) -> CodegenError:
        """The error to raise for the operation at hand."""
        return CodegenError(reason, self.name, self.current.location if self.current else "")

    # -- values by name ------------------------------------------------------------------------

    def get(self, name: str) -> Bound:
        """A scalar or a tensor; a tensor of the open group stays pending."""
        found = self.env[name]
        if isinstance(found, Deferred):
            self.flush()
            found = self.env[name]
            assert not isinstance(found, Deferred)
        if isinstance(found, Pending) and found.value is not None:
            return found.value
        return found

    def settled(self, name: str) -> Bound:
        """As ``get``, but nothing is pending in it."""
        found = self.get(name)
        if isinstance(found, Pending):
            self.flush()
            return self.get(name)
        return found

    def scalar(self, name: str) -> Value:
        found = self.get(name)
        if isinstance(found, Tensor):
            raise AssertionError(f"{name} is a tensor where a scalar was expected")
        return found

    def tensor(self, name: str) -> Tensor:
        found = self.get(name)
        assert isinstance(found, Tensor), name
        return found

    def settled_tensor(self, name: str) -> Tensor:
        found = self.settled(name)
        assert isinstance(found, Tensor), name
        return found

    def bind(self, name: str, value: Bound | Deferred) -> None:
        if isinstance(value, Buffer) and value.region < 0:
            value.region = self.region
        self.env[name] = value

    # -- memory --------------------------------------------------------------------------------

    def allocate(
        self, shape: tuple[int, ...], type: Type, order: Sequence[int] | None = None
    ) -> Buffer:
        """A buffer; ``order`` names the dimensions from the outermost in memory."""
        strides = [0] * len(shape)
        count = 1
        for d in reversed(order if order is not None else range(len(shape))):
            if shape[d] > 1:
                strides[d] = count
            count *= shape[d]
        memory = I8 if type == I1 else type
        return Buffer(shape, type, self.reserve(memory, count), tuple(strides))

    def reserve(self, type: Type, count: int) -> Value:
        """Memory of one running program, 64-byte aligned."""
        size = count * type.bytes * max(type.lanes, 1)
        if size <= STACK_BUFFER and self.stack_bytes + size <= STACK_TOTAL:
            self.stack_bytes += size
            return self.e.slot(type, count)
        pointer = Value(PTR, "%" + self.e.fresh("tile"))
        self.e.entry.append(
            f"  {pointer.text} = getelementptr i8, ptr %scratch, i64 {self.scratch_bytes}"
        )
        self.scratch_bytes += (size + 63) // 64 * 64
        return pointer

    def share(self, tensor: Tensor) -> None:
        """Marks the buffers under a tensor as read by more than one SSA value."""
        if isinstance(tensor, Buffer):
            tensor.shared = True
        for source in tensor.sources():
            self.share(source)

    def gather(self, type: Type, pointers: Value, mask: Value | None, other: Value | None) -> Value:
        lanes = pointers.type.lanes
        kind = type.with_lanes(lanes)
        return self.e.call(
            f"llvm.masked.gather.{kind.suffix}.{pointers.type.suffix}",
            kind,
            [
                pointers,
                self.e.const(Type("i32"), type.bytes),
                mask or self.e.const(I1.with_lanes(lanes), 1),
                other or self.e.const(kind, 0),
            ],
        )

    def scatter(self, value: Value, pointers: Value, mask: Value | None) -> None:
        lanes = pointers.type.lanes
        self.e.call(
            f"llvm.masked.scatter.{value.type.suffix}.{pointers.type.suffix}",
            None,
            [
                value,
                pointers,
                self.e.const(Type("i32"), value.type.bytes),
                mask or self.e.const(I1.with_lanes(lanes), 1),
            ],
        )

    # -- loop nests ----------------------------------------------------------------------------

    def lanes_for(self, *types: Type) -> int:
        """How many lanes a chunk of these element types has."""
        widest = max((type.bytes for type in types if type != PTR), default=4)
        return max(8, min(64, 2 * self.options.vector_bytes // widest))

    def each_chunk(
        self,
        shape: tuple[int, ...],
        width: int,
        body: Callable[[Place], None],
        order: Sequence[int] | None = None,
    ) -> None:
        """Runs ``body`` for boxes that cover the shape; width 1 goes element by element."""
        order = tuple(order if order is not None else range(len(shape)))
        extents = box_extents(shape, order, width)
        lanes = box_lanes(extents, order)
        self.each_step(
            shape,
            extents,
            order,
            lambda base: body(Place(base, lanes, len(lanes[0]) if lanes else 1, {})),
        )

    def each_step(
        self,
        shape: Sequence[int],
        steps: Sequence[int],
        order: Sequence[int],
        body: Callable[[list[Value]], None],
    ) -> None:
        """Nested loops, ``order`` from the outermost; many small ones run as one."""
        e = self.e
        zero = e.const(I64, 0)
        base = [zero] * len(shape)
        real = [d for d in order if shape[d] > steps[d]]
        merged, nested = (real[:-2], real[-2:]) if len(real) > 3 else ([], real)

        def nest(depth: int) -> None:
            if depth == len(nested):
                body(list(base))
                return
            d = nested[depth]

            def inside(index: Value) -> None:
                base[d] = index
                nest(depth + 1)

            e.loop(zero, e.const(I64, shape[d]), steps[d], inside)

        if not merged:
            nest(0)
            return
        total = 1
        for d in merged:
            total *= shape[d] // steps[d]

        def flat(index: Value) -> None:
            for d in reversed(merged):
                count = shape[d] // steps[d]
                part = e.binary("and", index, e.const(I64, count - 1))
                base[d] = e.mul(part, e.const(I64, steps[d]))
                index = e.binary("lshr", index, e.const(I64, count.bit_length() - 1))
            nest(0)

        e.loop(zero, e.const(I64, total), 1, flat)

    def fill(
        self, buffer: Buffer, tensor: Tensor, change: Callable[[Value], Value] | None = None
    ) -> None:
        """Writes a settled tensor's elements into a buffer of its shape."""
        width = self.lanes_for(buffer.type, tensor.type)
        order = sorted(range(len(buffer.shape)), key=lambda d: -buffer.strides[d])

        def body(place: Place) -> None:
            value = tensor.at(self, place)
            buffer.store(self, place, change(value) if change else value)

        self.each_chunk(buffer.shape, width, body, order)

    def is_dense(self, tensor: Tensor) -> bool:
        """Whether it is a buffer in row-major order without gaps."""
        if not isinstance(tensor, Buffer):
            return False
        count = 1
        for size, stride in zip(reversed(tensor.shape), reversed(tensor.strides), strict=True):
            if size > 1 and stride != count:
                return False
            count *= size
        return True

    def dense(self, tensor: Tensor) -> Buffer:
        """A settled tensor as a row-major buffer: itself where it is one, else a copy."""
        if self.is_dense(tensor):
            assert isinstance(tensor, Buffer)
            return tensor
        buffer = self.allocate(tensor.shape, tensor.type)
        self.fill(buffer, tensor)
        return buffer

    def owned(self, tensor: Tensor, name: str) -> bool:
        """Whether the one operation that reads ``name`` may overwrite its buffer."""
        return (
            isinstance(tensor, Buffer)
            and not tensor.shared
            and tensor.region == self.region
            and len(self.uses.get(name, ())) == 1
        )

    def element(self, tensor: Tensor, index: Sequence[Value] | None = None) -> Value:
        """One element of a settled tensor (the first, where no index is given)."""
        zero = self.e.const(I64, 0)
        return tensor.at(self, scalar_place(index or [zero] * len(tensor.shape)))

    # -- running -------------------------------------------------------------------------------

    def flush(self) -> None:
        """Writes out the open group."""
        if self.group.items:
            group, self.group = self.group, Group()
            emit_group(self, group)

    def run(self, operation: Operation) -> None:
        handler = HANDLERS.get(operation.name)
        outer, self.current = self.current, operation
        if handler is None:
            raise self.refuse(f"the operation {operation.name} has no handler")
        handler(self, operation)
        self.current = outer

    def run_block(self, block: Block) -> Operation:
        """Runs a block up to its terminator, which it returns."""
        for operation in block.operations[:-1]:
            self.run(operation)
        return block.operations[-1]
