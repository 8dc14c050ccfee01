# SPDX-License-Identifier: Apache-2.0
"""tt.dot_scaled: microscaling operands are decoded to single precision, then multiplied as usual.

Formats are those of the OCP Microscaling specification 1.0: e4m3, e5m2 and packed e2m1 elements,
with one e8m0 (or e4m3) scale for every block of K.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from triton_cpu.codegen.dot import accumulator, multiply
from triton_cpu.codegen.elementwise import narrowed
from triton_cpu.codegen.place import Place
from triton_cpu.codegen.registry import handles
from triton_cpu.codegen.values import Buffer, Tensor
from triton_cpu.llvm.emit import F32, I64, Value
from triton_cpu.math.casts import from_fp8

if TYPE_CHECKING:
    from triton_cpu.codegen.lowering import Lowering
    from triton_cpu.ttir import Operation

E4M3, E5M2, E2M1, BF16, FP16 = 0, 1, 4, 5, 6
"""Triton's numbers for the element formats."""


@handles("tt.dot_scaled")
def dot_scaled(f: Lowering, operation: Operation) -> None:
    f.flush()
    names = iter(operation.operands)
    segments = operation.integers("operandSegmentSizes")
    a_name, b_name, c_name, a_scale, b_scale = (
        next(names) if present else None for present in segments
    )
    assert a_name
    assert b_name
    assert c_name
    left = _decoded(
        f,
        f.settled_tensor(a_name),
        operation.integer("a_elem_type"),
        f.settled_tensor(a_scale) if a_scale else None,
        k_axis=-1,
        k_packed=bool(operation.integer("lhs_k_pack", 1)),
    )
    right = _decoded(
        f,
        f.settled_tensor(b_name),
        operation.integer("b_elem_type"),
        f.settled_tensor(b_scale) if b_scale else None,
        k_axis=-2,
        k_packed=bool(operation.integer("rhs_k_pack", 1)),
    )
    result = accumulator(f, f.settled_tensor(c_name), c_name, F32)
    multiply(f, left, right, result)
    kind = operation.result_types[0].scalar
    if kind != F32:
        narrow = f.allocate(result.shape, kind)
        f.fill(narrow, result, lambda value: narrowed(f, value, kind.scalar))
        result = narrow
    f.bind(operation.results[0], result)


def _decoded(
    f: Lowering, tensor: Tensor, form: int, scale: Tensor | None, k_axis: int, k_packed: bool
) -> Buffer:
    """An operand as a dense tile of scaled single precision numbers."""
    rank = len(tensor.shape)
    k = rank + k_axis
    other = rank - 1 if k == rank - 2 else rank - 2
    packed_axis = k if k_packed else other
    shape = list(tensor.shape)
    if form == E2M1:
        shape[packed_axis] *= 2
    tile = f.allocate(tuple(shape), F32)
    block = shape[k] // scale.shape[-1] if scale is not None else 1

    def body(place: Place) -> None:
        if form == E2M1:
            byte = tensor.at(f, _divided(f, place, packed_axis, 2))
            value = _from_e2m1(f, byte, place, packed_axis)
        elif form in (BF16, FP16):
            value = narrowed(f, tensor.at(f, place), "float")
        elif form in (E4M3, E5M2):
            kind = "fp8e4nv" if form == E4M3 else "fp8e5"
            value = from_fp8(f.e, tensor.at(f, place), kind, "float")
        else:
            raise f.refuse(f"tl.dot_scaled of element format number {form}")
        if scale is not None:
            value = f.e.binary("fmul", value, _scale_at(f, scale, place, k, other, block))
        tile.store(f, place, value)

    f.each_chunk(tuple(shape), f.lanes_for(F32), body)
    return tile


def _divided(f: Lowering, place: Place, axis: int, by: int) -> Place:
    """The place whose index along an axis is divided by a power of two."""
    shift = f.e.const(I64, by.bit_length() - 1)
    base, lanes = list(place.base), list(place.lanes)
    if base[axis].constant is None:
        base[axis] = f.e.binary("lshr", base[axis], shift)
    else:
        base[axis] = f.e.const(I64, int(base[axis].constant or 0) // by)
    lanes[axis] = tuple(step // by for step in lanes[axis])
    return Place(base, tuple(lanes), place.width, place.cache)


def _from_e2m1(f: Lowering, byte: Value, place: Place, axis: int) -> Value:
    """Picks each lane's half of a byte, low half first, and decodes it."""
    e = f.e
    wide = e.resize(byte, "i32", signed=False)
    if any(place.lanes[axis]):
        shift = e.lanes(wide.type.with_lanes(0), [4 * (step & 1) for step in place.lanes[axis]])
    else:
        odd = e.binary(
            "and", e.resize(place.base[axis], "i32"), e.const(wide.type.with_lanes(0), 1)
        )
        scalar = e.mul(odd, e.const(odd.type, 4))
        shift = e.splat(scalar, place.width) if wide.type.lanes else scalar
    code = e.binary("lshr", wide, shift)

    def c(number: int) -> Value:
        return e.const(wide.type, number)

    size = e.binary("and", code, c(7))
    normal = e.binary("add", e.binary("shl", size, c(22)), c(126 << 23))
    small = e.select(e.compare("eq", size, c(1)), c(126 << 23), c(0))
    bits = e.select(e.compare("ugt", size, c(1)), normal, small)
    sign = e.binary("shl", e.binary("and", code, c(8)), c(28))
    return e.bitcast(e.binary("or", bits, sign), wide.type.of("float"))


def _scale_at(f: Lowering, scale: Tensor, place: Place, k: int, other: int, block: int) -> Value:
    """The scales of a place; a scale tensor has the operand's other axis first, then K / block."""
    e = f.e
    blocks = _divided(f, place, k, block)
    order = [*range(len(place.base) - 2), other, k]
    chosen = Place(
        [blocks.base[d] for d in order],
        tuple(blocks.lanes[d] for d in order),
        place.width,
        place.cache,
    )
    value = scale.at(f, chosen)
    if value.type.is_float:
        return narrowed(f, value, "float")
    code = e.resize(value, "i32", signed=False)
    exponent = e.binary("shl", code, e.const(code.type, 23))
    lowest = e.select(
        e.compare("eq", code, e.const(code.type, 0)), e.const(code.type, 0x400000), exponent
    )
    nan = e.compare("eq", code, e.const(code.type, 0xFF))
    bits = e.select(nan, e.const(code.type, 0x7FC00000), lowest)
    return e.bitcast(bits, code.type.of("float"))
