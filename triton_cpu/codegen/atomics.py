# SPDX-License-Identifier: Apache-2.0
"""Atomic read-modify-write and compare-and-swap, element by element."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from triton_cpu.codegen.elementwise import narrowed, widen
from triton_cpu.codegen.place import Place
from triton_cpu.codegen.registry import handles
from triton_cpu.codegen.values import Splat, Tensor
from triton_cpu.llvm.emit import I1, Type, Value

if TYPE_CHECKING:
    from triton_cpu.codegen.lowering import Lowering
    from triton_cpu.ttir import Operation

_RMW = ("", "and", "or", "xor", "add", "fadd", "max", "min", "umax", "umin", "xchg")
"""LLVM's words for tt.atomic_rmw's kinds, which begin at 1."""
_ORDER = ("", "monotonic", "acquire", "release", "acq_rel")


@handles("tt.atomic_rmw")
def atomic_rmw(f: Lowering, operation: Operation) -> None:
    kind = _RMW[operation.integer("atomic_rmw_op")]
    order = _ORDER[operation.integer("sem")]

    def one(v: list[Value]) -> Value:
        pointer, item = v
        if kind == "fadd" and item.type.scalar in ("half", "bfloat"):
            return _add_narrow(f, pointer, item, order)
        return f.e.value(
            item.type, f"atomicrmw {kind} ptr {pointer.text}, {item.type} {item.text} {order}"
        )

    _each_element(f, operation, 2, one)


@handles("tt.atomic_cas")
def atomic_cas(f: Lowering, operation: Operation) -> None:
    order = _ORDER[operation.integer("sem")]

    def one(v: list[Value]) -> Value:
        pointer, expected, wanted = v
        return _exchange(f, pointer, expected, wanted, order)[0]

    _each_element(f, operation, 3, one)


def _exchange(
    f: Lowering, pointer: Value, expected: Value, wanted: Value, order: str
) -> tuple[Value, Value]:
    """cmpxchg on the bits: the old value, and whether the exchange happened."""
    e, kind = f.e, expected.type
    whole = kind if kind.is_pointer else Type(f"i{kind.bits}")
    a, b = e.bitcast(expected, whole), e.bitcast(wanted, whole)
    failed = "acquire" if order in ("acq_rel", "acquire") else "monotonic"
    pair = "%" + e.fresh("pair")
    e.write(
        f"{pair} = cmpxchg ptr {pointer.text}, {whole} {a.text}, {whole} {b.text} {order} {failed}"
    )
    old = e.value(whole, f"extractvalue {{ {whole}, i1 }} {pair}, 0")
    done = e.value(I1, f"extractvalue {{ {whole}, i1 }} {pair}, 1")
    return e.bitcast(old, kind), done


def _add_narrow(f: Lowering, pointer: Value, item: Value, order: str) -> Value:
    """16-bit float addition by compare and swap: LLVM has library calls for it on some CPUs."""
    e, kind = f.e, item.type
    bits = Type("i16")
    again, done = e.fresh("again"), e.fresh("added")
    slot = e.slot(bits)
    e.store(e.load(bits, pointer), slot)
    e.branch(again)
    e.label(again)
    old = e.bitcast(e.load(bits, slot), kind)
    total = e.binary("fadd", widen(f, old), widen(f, item))
    found, success = _exchange(f, pointer, old, narrowed(f, total, kind.scalar), order)
    e.store(e.bitcast(found, bits), slot)
    e.branch_if(success, done, again)
    e.label(done)
    return e.bitcast(e.load(bits, slot), kind)


def _each_element(
    f: Lowering, operation: Operation, inputs: int, one: Callable[[list[Value]], Value]
) -> None:
    """Runs ``one`` for every element whose mask holds; masked-off results are zero."""
    f.flush()
    kind = operation.result_types[0]
    name = operation.results[0]
    values = [f.settled(operand) for operand in operation.operands]
    mask = values[inputs] if len(values) > inputs else None

    def guarded(v: list[Value], m: Value | None, keep: Callable[[Value], None]) -> None:
        if m is None or m.constant == 1:
            keep(one(v))
        else:
            f.e.if_then(m, lambda: keep(one(v)))

    if kind.shape is None:
        slot = f.e.slot(kind.scalar)
        f.e.store(f.e.const(kind.scalar, 0), slot)
        scalars = [value for value in values[:inputs] if isinstance(value, Value)]
        chosen = mask if isinstance(mask, Value) else None
        guarded(scalars, chosen, lambda old: f.e.store(old, slot))
        f.bind(name, f.e.load(kind.scalar, slot))
        return
    result = f.allocate(kind.shape, kind.scalar) if f.uses.get(name) else None
    if result is not None and mask is not None:
        f.fill(result, Splat(kind.shape, f.e.const(kind.scalar, 0)))

    def body(place: Place) -> None:
        def keep(old: Value) -> None:
            if result is not None:
                result.store(f, place, old)

        v = [value.at(f, place) for value in values[:inputs] if isinstance(value, Tensor)]
        guarded(v, mask.at(f, place) if isinstance(mask, Tensor) else None, keep)

    f.each_chunk(kind.shape, 1, body)
    if result is not None:
        f.bind(name, result)
