# SPDX-License-Identifier: Apache-2.0
"""What a tensor is while a kernel is being compiled: a rule for its elements at a place.

Only a Buffer owns memory. Everything else is computed where it is read, chunk by chunk.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from triton_cpu.codegen.place import Place, offsets, restrict
from triton_cpu.llvm.emit import I1, I8, I64, PTR, Type, Value, wrap

if TYPE_CHECKING:
    from triton_cpu.codegen.lowering import Lowering
    from triton_cpu.ttir import Operation

Rule = Callable[["Lowering", Place], Value]


class Tensor:
    """``type`` is of one element; ``deps`` are the dimensions along which elements differ."""

    __slots__ = ("deps", "shape", "type")

    def __init__(self, shape: tuple[int, ...], type: Type, deps: frozenset[int]) -> None:
        self.shape = shape
        self.type = type
        self.deps = deps

    def at(self, f: Lowering, place: Place) -> Value:
        """The elements of a place: a vector of its width, or a scalar for width 1."""
        base = tuple(place.base[d].text for d in self.deps)
        if place.width == 1:
            key: object = (self, base, 1)
            found = place.cache.get(key)
            if found is None:
                found = place.cache[key] = self.compute(f, place)
            return found
        lanes, width, expand = restrict(place.lanes, self.deps)
        key = (self, base, lanes)
        found = place.cache.get(key)
        if found is None:
            inner = place if expand is None else Place(place.base, lanes, width, place.cache)
            found = place.cache[key] = self.compute(f, inner)
        if expand is None:
            return found
        whole = (self, base, lanes, place.lanes)
        spread = place.cache.get(whole)
        if spread is None:
            if width == 1:
                spread = f.e.splat(found, place.width)
            elif found.constant is not None:
                spread = f.e.const(found.type.with_lanes(place.width), found.constant)
            else:
                spread = f.e.shuffle(found, None, expand)
            place.cache[whole] = spread
        return spread

    def compute(self, f: Lowering, place: Place) -> Value:
        raise NotImplementedError

    def sources(self) -> Sequence[Tensor]:
        """The tensors that this one reads."""
        return ()


class Splat(Tensor):
    """One scalar everywhere."""

    __slots__ = ("value",)

    def __init__(self, shape: tuple[int, ...], value: Value) -> None:
        super().__init__(shape, value.type, frozenset())
        self.value = value

    def compute(self, f: Lowering, place: Place) -> Value:
        return self.value if place.width == 1 else f.e.splat(self.value, place.width)


class Separable(Tensor):
    """``base`` + the sum of ``strides[d]`` x index d + the sum of ``functions``.

    Strides have the base's type (i64 for pointers, counted in ``pointee``); functions are tensors
    of integers of the same shape, sign-extended where the base is a pointer.
    """

    __slots__ = ("base", "functions", "pointee", "strides")

    def __init__(
        self,
        shape: tuple[int, ...],
        base: Value,
        strides: dict[int, Value],
        functions: tuple[Tensor, ...] = (),
        pointee: Type | None = None,
    ) -> None:
        strides = {d: s for d, s in strides.items() if s.constant != 0 and shape[d] > 1}
        deps = frozenset(strides).union(*(function.deps for function in functions))
        super().__init__(shape, base.type, deps)
        self.base = base
        self.strides = strides
        self.functions = functions
        self.pointee = pointee

    @property
    def index_type(self) -> Type:
        return I64 if self.type == PTR else self.type

    def terms(self) -> tuple[object, ...]:
        """Equal for two tensors that differ by their bases alone."""
        strides = tuple(sorted((d, stride.text) for d, stride in self.strides.items()))
        return (self.shape, self.type, self.pointee, strides, self.functions)

    def sources(self) -> Sequence[Tensor]:
        return self.functions

    def is_contiguous(self, lanes: Sequence[tuple[int, ...]]) -> bool:
        """Whether lane l of a place lies l elements after its first."""
        varying = {d for d, part in enumerate(lanes) if any(part)}
        if any(function.deps & varying for function in self.functions):
            return False
        known = []
        for d in range(len(lanes)):
            stride = self.strides.get(d)
            if stride is None or d not in varying:
                known.append(0)
            elif stride.constant is None:
                return False
            else:
                known.append(int(stride.constant))
        found = offsets(tuple(lanes), tuple(known))
        return found == tuple(range(len(found)))

    def start(self, f: Lowering, place: Place) -> Value:
        """The scalar of the first lane, without the functions that vary inside the place."""
        e, index_type = f.e, self.index_type
        total = e.const(index_type, 0) if self.type == PTR else self.base
        for d, stride in self.strides.items():
            step = e.mul(e.resize(place.base[d], index_type.scalar), stride)
            total = e.add(total, step)
        varying = {d for d, part in enumerate(place.lanes) if any(part)}
        for function in self.functions:
            if not function.deps & varying:
                here = Place(place.base, tuple((0,) for _ in place.lanes), 1, place.cache)
                total = e.add(total, e.resize(function.at(f, here), index_type.scalar))
        if self.type == PTR:
            assert self.pointee is not None
            return e.gep(self.pointee, self.base, total)
        return total

    def compute(self, f: Lowering, place: Place) -> Value:
        e = f.e
        start = self.start(f, place)
        if place.width == 1:
            return start
        kind = self.index_type.with_lanes(place.width)
        varying = {d for d, part in enumerate(place.lanes) if any(part)}
        known = [0] * place.width
        rest: list[Value] = []
        for d, stride in self.strides.items():
            if d not in varying:
                continue
            if stride.constant is not None:
                for lane, step in enumerate(place.lanes[d]):
                    known[lane] += step * int(stride.constant)
            else:
                steps = e.lanes(self.index_type, place.lanes[d])
                rest.append(e.binary("mul", steps, e.splat(stride, place.width)))
        if any(known):
            bits = self.index_type.bits
            rest.append(e.lanes(self.index_type, [wrap(step, bits) for step in known]))
        for function in self.functions:
            if function.deps & varying:
                rest.append(e.resize(function.at(f, place), self.index_type.scalar))
        total = None
        for part in rest:
            total = part if total is None else e.binary("add", total, part)
        if total is None:
            return e.splat(start, place.width)
        if self.type == PTR:
            assert self.pointee is not None
            return e.gep(self.pointee, start, total)
        assert total.type == kind
        if start.constant == 0:
            return total
        return e.binary("add", e.splat(start, place.width), total)


class Lazy(Tensor):
    """A cheap expression, computed again wherever it is read."""

    __slots__ = ("depth", "inputs", "rule")

    def __init__(
        self,
        shape: tuple[int, ...],
        type: Type,
        rule: Rule,
        inputs: Sequence[Tensor],
        deps: frozenset[int] | None = None,
    ) -> None:
        if deps is None:
            deps = frozenset().union(*(tensor.deps for tensor in inputs))
        super().__init__(shape, type, deps)
        self.rule = rule
        self.inputs = tuple(inputs)
        self.depth = 1 + max((getattr(tensor, "depth", 0) for tensor in inputs), default=0)

    def sources(self) -> Sequence[Tensor]:
        return self.inputs

    def compute(self, f: Lowering, place: Place) -> Value:
        return self.rule(f, place)


class View(Tensor):
    """Another tensor's elements under a new shape.

    ``mapping[d]`` is the dimension here that dimension d of the source follows, None for index 0.
    """

    __slots__ = ("mapping", "source")

    def __init__(
        self, shape: tuple[int, ...], source: Tensor, mapping: Sequence[int | None]
    ) -> None:
        followed = (mapping[d] for d in source.deps)
        super().__init__(shape, source.type, frozenset(d for d in followed if d is not None))
        self.source = source
        self.mapping = tuple(mapping)

    def sources(self) -> Sequence[Tensor]:
        return (self.source,)

    def compute(self, f: Lowering, place: Place) -> Value:
        zero = f.e.const(I64, 0)
        still = (0,) * place.width
        base = [zero if m is None else place.base[m] for m in self.mapping]
        lanes = tuple(still if m is None else place.lanes[m] for m in self.mapping)
        return self.source.at(f, Place(base, lanes, place.width, place.cache))


class Buffer(Tensor):
    """Memory of the running program. Strides are in elements; a dimension of size 1 has 0."""

    __slots__ = ("pointer", "region", "shared", "strides")

    def __init__(
        self, shape: tuple[int, ...], type: Type, pointer: Value, strides: tuple[int, ...]
    ) -> None:
        super().__init__(shape, type, frozenset(d for d, size in enumerate(shape) if size > 1))
        self.pointer = pointer
        self.strides = strides
        self.shared = False
        """Whether something else than one SSA value may read this memory later."""
        self.region = -1
        """The region instance whose values live here."""

    @property
    def memory_type(self) -> Type:
        return I8 if self.type == I1 else self.type

    def address(self, f: Lowering, base: Sequence[Value], extra: int = 0) -> Value:
        total = f.e.const(I64, extra)
        for d, stride in enumerate(self.strides):
            if stride:
                total = f.e.add(total, f.e.mul(base[d], f.e.const(I64, stride)))
        return f.e.gep(self.memory_type, self.pointer, total)

    def compute(self, f: Lowering, place: Place) -> Value:
        e, memory = f.e, self.memory_type
        if place.width == 1:
            found = e.load(memory, self.address(f, place.base))
        else:
            where = offsets(place.lanes, self.strides)
            low, high = min(where), max(where)
            span = high - low + 1
            if span <= 4 * place.width:
                found = e.load(memory.with_lanes(span), self.address(f, place.base, low))
                if where != tuple(range(low, high + 1)):
                    found = e.shuffle(found, None, [at - low for at in where])
            else:
                pointers = e.gep(memory, self.address(f, place.base), e.lanes(I64, where))
                found = f.gather(memory, pointers, None, None)
        return e.cast("trunc", found, "i1") if self.type == I1 else found

    def store(self, f: Lowering, place: Place, value: Value) -> None:
        e, memory = f.e, self.memory_type
        if self.type == I1:
            value = e.resize(value, "i8", signed=False)
        if place.width == 1:
            e.store(value, self.address(f, place.base))
            return
        where = offsets(place.lanes, self.strides)
        low = min(where)
        if sorted(where) == list(range(low, low + place.width)):
            if where != tuple(range(low, low + place.width)):
                back = [0] * place.width
                for lane, at in enumerate(where):
                    back[at - low] = lane
                value = e.shuffle(value, None, back)
            e.store(value, self.address(f, place.base, low))
        else:
            pointers = e.gep(memory, self.address(f, place.base), e.lanes(I64, where))
            f.scatter(value, pointers, None)


class Pending(Tensor):
    """An operation's result that waits for its group's loop nest; afterwards maybe a Buffer."""

    __slots__ = ("access", "operation", "rule", "value")

    def __init__(
        self,
        operation: Operation,
        shape: tuple[int, ...],
        type: Type,
        rule: Rule,
        access: Tensor | None = None,
    ) -> None:
        super().__init__(shape, type, frozenset(d for d, n in enumerate(shape) if n > 1))
        self.operation = operation
        self.rule = rule
        self.access = access
        """The pointers, for loads and stores."""
        self.value: Buffer | None = None

    def compute(self, f: Lowering, place: Place) -> Value:
        if self.value is not None:
            return self.value.compute(f, place)
        if self not in f.emitting:
            raise AssertionError(f"{self.operation.name} is read outside its loop nest")
        return self.rule(f, place)
