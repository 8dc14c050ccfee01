# SPDX-License-Identifier: Apache-2.0
"""Stores that share a loop nest with accesses through other pointers.

Triton promises nothing about which tensors overlap, and a store that runs ahead of a later load of
the same nest would be seen by it. Where both ends of every access are known before the nest, the
nest asks at run time: mostly nothing overlaps, and the stores go where they belong. Otherwise they
go to a buffer, and from there to their place when the nest is done, which is the program's order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from triton_cpu.codegen.place import Lanes
from triton_cpu.codegen.values import Buffer, Separable, Tensor
from triton_cpu.llvm.emit import I64, Value

if TYPE_CHECKING:
    from triton_cpu.codegen.lowering import Lowering


def same_pattern(a: Separable, b: Separable) -> bool:
    """Whether two pointer tensors differ at most by their bases and name no address twice."""
    if a.terms() != b.terms() or a.functions:
        return False
    sizes = []
    for d, size in enumerate(a.shape):
        if size == 1:
            continue
        stride = a.strides.get(d)
        if stride is None or stride.constant is None:
            return False
        sizes.append((abs(int(stride.constant)), size))
    reach = 0
    for step, size in sorted(sizes):
        if step <= reach:
            return False
        reach += step * (size - 1)
    return True


def same_elements(a: Tensor | None, b: Tensor | None) -> bool:
    """Whether two pointer tensors are equal and never name one address twice."""
    return (
        isinstance(a, Separable)
        and isinstance(b, Separable)
        and a.base == b.base
        and same_pattern(a, b)
    )


def has_ends(pointers: Tensor | None) -> bool:
    """Whether the first and last address are known before the nest runs."""
    return isinstance(pointers, Separable) and not pointers.functions


def conflict(f: Lowering, pairs: list[tuple[Separable, Separable]]) -> Value:
    """An i1: some pair of accesses shares an address at two different elements, as far as known."""
    found: Value | None = None
    ends: dict[Separable, tuple[Value, Value]] = {}
    for a, b in pairs:
        for pointers in (a, b):
            if pointers not in ends:
                ends[pointers] = _ends(f, pointers)
        (first_a, last_a), (first_b, last_b) = ends[a], ends[b]
        one = f.e.binary(
            "and", f.e.compare("ult", first_a, last_b), f.e.compare("ult", first_b, last_a)
        )
        if same_pattern(a, b):
            apart = f.e.compare("ne", first_a, first_b)
            one = f.e.binary("and", one, apart)
        found = one if found is None else f.e.binary("or", found, one)
    assert found is not None
    return found


def _ends(f: Lowering, pointers: Separable) -> tuple[Value, Value]:
    """The lowest address and the one after the highest byte, masked-off lanes included."""
    e = f.e
    assert pointers.pointee is not None
    size = pointers.pointee.bytes
    low, high = e.const(I64, 0), e.const(I64, size)
    zero = e.const(I64, 0)
    for d, stride in pointers.strides.items():
        span = e.mul(stride, e.const(I64, size * (pointers.shape[d] - 1)))
        if span.constant is not None:
            down, up = (e.const(I64, pick(0, int(span.constant))) for pick in (min, max))
        else:
            down = e.call("llvm.smin.i64", I64, [span, zero])
            up = e.call("llvm.smax.i64", I64, [span, zero])
        low, high = e.add(low, down), e.add(high, up)
    base = e.cast("ptrtoint", pointers.base, "i64")
    return e.add(base, low), e.add(base, high)


def detour(
    f: Lowering, pointers: Separable, taken: Value, buffer: Buffer, lanes: Lanes
) -> Separable | None:
    """The pointers, or the buffer's elements where ``taken`` holds.

    None where that would make a gather of a run of addresses.
    """
    e = f.e
    if not pointers.is_contiguous(lanes):
        return None
    varying = {d for d, part in enumerate(lanes) if any(part)}
    strides = {}
    for d, size in enumerate(pointers.shape):
        stride = pointers.strides.get(d, e.const(I64, 0))
        inside = e.const(I64, buffer.strides[d])
        if size == 1 or stride.constant == inside.constant:
            strides[d] = stride
        elif d in varying:
            return None
        else:
            strides[d] = e.select(taken, inside, stride)
    base = e.select(taken, buffer.pointer, pointers.base)
    return Separable(pointers.shape, base, strides, (), pointers.pointee)
