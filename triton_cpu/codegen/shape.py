# SPDX-License-Identifier: Apache-2.0
"""Operations that only move elements: ranges, splats, views, joins and splits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triton_cpu.codegen.place import Place
from triton_cpu.codegen.registry import handles
from triton_cpu.codegen.values import Buffer, Lazy, Separable, Splat, Tensor, View
from triton_cpu.llvm.emit import I32, I64, Type, Value

if TYPE_CHECKING:
    from triton_cpu.codegen.lowering import Lowering
    from triton_cpu.ttir import Operation


@handles("tt.make_range")
def make_range(f: Lowering, operation: Operation) -> None:
    shape = operation.result_types[0].shape
    assert shape is not None
    start = f.e.const(I32, operation.integer("start"))
    f.bind(operation.results[0], Separable(shape, start, {0: f.e.const(I32, 1)}))


@handles("tt.splat")
def splat(f: Lowering, operation: Operation) -> None:
    kind = operation.result_types[0]
    assert kind.shape is not None
    value = f.get(operation.operands[0])
    if isinstance(value, Tensor):
        value = f.element(f.settled_tensor(operation.operands[0]))
    if value.type.is_pointer:
        f.bind(operation.results[0], Separable(kind.shape, value, {}, (), kind.pointee.scalar))
    else:
        f.bind(operation.results[0], Splat(kind.shape, value))


@handles("tt.unsplat")
def unsplat(f: Lowering, operation: Operation) -> None:
    f.bind(operation.results[0], f.element(f.settled_tensor(operation.operands[0])))


def view(f: Lowering, tensor: Tensor, shape: tuple[int, ...], mapping: list[int | None]) -> Tensor:
    """``tensor`` under a new shape; dimension d of it becomes ``mapping[d]``, None is dropped."""
    if isinstance(tensor, Splat):
        return Splat(shape, tensor.value)
    if isinstance(tensor, Separable):
        strides = {}
        for d, stride in tensor.strides.items():
            to = mapping[d]
            if to is not None:
                strides[to] = stride
        functions = tuple(view(f, function, shape, mapping) for function in tensor.functions)
        return Separable(shape, tensor.base, strides, functions, tensor.pointee)
    f.share(tensor)
    if isinstance(tensor, View):
        inner = [None if m is None else mapping[m] for m in tensor.mapping]
        return View(shape, tensor.source, inner)
    return View(shape, tensor, mapping)


@handles("tt.expand_dims")
def expand_dims(f: Lowering, operation: Operation) -> None:
    tensor = f.settled_tensor(operation.operands[0])
    shape = operation.result_types[0].shape
    assert shape is not None
    axis = operation.integer("axis")
    mapping: list[int | None] = [d if d < axis else d + 1 for d in range(len(tensor.shape))]
    f.bind(operation.results[0], view(f, tensor, shape, mapping))


@handles("tt.broadcast")
def broadcast(f: Lowering, operation: Operation) -> None:
    tensor = f.settled_tensor(operation.operands[0])
    shape = operation.result_types[0].shape
    assert shape is not None
    mapping: list[int | None] = [
        d if tensor.shape[d] == size else None for d, size in enumerate(shape)
    ]
    f.bind(operation.results[0], view(f, tensor, shape, mapping))


@handles("tt.trans")
def trans(f: Lowering, operation: Operation) -> None:
    tensor = f.settled_tensor(operation.operands[0])
    shape = operation.result_types[0].shape
    assert shape is not None
    order = operation.integers("order")
    mapping: list[int | None] = [order.index(d) for d in range(len(order))]
    f.bind(operation.results[0], view(f, tensor, shape, mapping))


@handles("tt.reshape")
def reshape(f: Lowering, operation: Operation) -> None:
    kind = operation.result_types[0]
    assert kind.shape is not None
    tensor = f.get(operation.operands[0])
    assert isinstance(tensor, Tensor)
    if tensor.shape == kind.shape:
        f.share(tensor)
        f.env[operation.results[0]] = tensor
        # What reads the result reads the operand.
        f.uses.setdefault(operation.operands[0], []).extend(f.uses.get(operation.results[0], []))
        return
    f.bind(operation.results[0], reshaped(f, f.settled_tensor(operation.operands[0]), kind.shape))


def reshaped(f: Lowering, tensor: Tensor, shape: tuple[int, ...]) -> Tensor:
    """The same elements in row-major order under another shape."""
    if isinstance(tensor, Splat):
        return Splat(shape, tensor.value)
    old = [d for d, size in enumerate(tensor.shape) if size > 1]
    new = [d for d, size in enumerate(shape) if size > 1]
    if [tensor.shape[d] for d in old] == [shape[d] for d in new]:
        mapping: list[int | None] = [None] * len(tensor.shape)
        for a, b in zip(old, new, strict=True):
            mapping[a] = b
        return view(f, tensor, shape, mapping)
    if isinstance(tensor, Separable) and not tensor.functions and len(old) == 1:
        # One varying dimension that falls apart stays linear.
        stride = tensor.strides.get(old[0])
        strides: dict[int, Value] = {}
        if stride is not None:
            count = 1
            for d in reversed(range(len(shape))):
                if shape[d] > 1:
                    strides[d] = f.e.mul(stride, f.e.const(stride.type, count))
                count *= shape[d]
        return Separable(shape, tensor.base, strides, (), tensor.pointee)
    buffer = f.dense(tensor)
    f.share(buffer)
    return like(buffer, shape, buffer.type)


def like(buffer: Buffer, shape: tuple[int, ...], kind: Type) -> Buffer:
    """A dense buffer's memory under another shape and element type."""
    strides, count = [0] * len(shape), 1
    for d in reversed(range(len(shape))):
        strides[d] = count if shape[d] > 1 else 0
        count *= shape[d]
    other = Buffer(shape, kind, buffer.pointer, tuple(strides))
    other.shared = True
    return other


@handles("tt.join")
def join(f: Lowering, operation: Operation) -> None:
    shape = operation.result_types[0].shape
    assert shape is not None
    parts = [f.settled_tensor(name) for name in operation.operands]
    parts = [f.settled_tensor(name) for name in operation.operands]
    whole = f.allocate(shape, parts[0].type)
    for index, part in enumerate(parts):
        f.fill(_slice(whole, len(shape) - 1, index, part.shape), part)
    f.bind(operation.results[0], whole)


def _slice(whole: Buffer, axis: int, index: int, shape: tuple[int, ...]) -> Buffer:
    """A buffer without its dimension ``axis``, taken at an index."""
    return _Slice(whole, axis, index, shape)


class _Slice(Buffer):
    __slots__ = ("extra",)

    def __init__(self, whole: Buffer, axis: int, index: int, shape: tuple[int, ...]) -> None:
        strides = whole.strides[:axis] + whole.strides[axis + 1 :]
        super().__init__(shape, whole.type, whole.pointer, strides)
        self.extra = index * whole.strides[axis]
        self.shared = True

    def address(self, f: Lowering, base: object, extra: int = 0) -> Value:
        return super().address(f, base, extra + self.extra)  # type: ignore[arg-type]


@handles("tt.split")
def split(f: Lowering, operation: Operation) -> None:
    whole = f.settled_tensor(operation.operands[0])
    axis = len(whole.shape) - 1
    shape = whole.shape[:-1]
    if isinstance(whole, Splat):
        for name in operation.results:
            f.bind(name, Splat(shape, whole.value))
        return
    f.share(whole)
    for index, name in enumerate(operation.results):
        f.bind(name, _picked(whole, axis, index, shape))


def _picked(whole: Tensor, axis: int, index: int, shape: tuple[int, ...]) -> Tensor:
    """The elements of ``whole`` at one index of an axis."""
    if isinstance(whole, Buffer):
        return _slice(whole, axis, index, shape)

    def rule(f: Lowering, place: Place) -> Value:
        base = [*place.base[:axis], f.e.const(I64, index), *place.base[axis:]]
        lanes = (*place.lanes[:axis], (0,) * place.width, *place.lanes[axis:])
        return whole.at(f, Place(base, lanes, place.width, place.cache))

    deps = frozenset(d if d < axis else d - 1 for d in whole.deps if d != axis)
    return Lazy(shape, whole.type, rule, [whole], deps)


@handles("tt.cat")
def cat(f: Lowering, operation: Operation) -> None:
    shape = operation.result_types[0].shape
    assert shape is not None
    parts = [f.settled_tensor(name) for name in operation.operands]
    parts = [f.settled_tensor(name) for name in operation.operands]
    whole = f.allocate(shape, parts[0].type)
    start = 0
    for part in parts:
        piece = _Slice(whole, 0, 0, part.shape[1:])
        piece.shape, piece.strides = part.shape, whole.strides
        piece.deps = frozenset(d for d, size in enumerate(part.shape) if size > 1)
        piece.extra = start * whole.strides[0]
        f.fill(piece, part)
        start += part.shape[0]
    f.bind(operation.results[0], whole)
