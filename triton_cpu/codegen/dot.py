# SPDX-License-Identifier: Apache-2.0
"""tt.dot: dense operand tiles in memory, a tile of the result in registers, K innermost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triton_cpu.codegen.elementwise import narrowed
from triton_cpu.codegen.place import Place
from triton_cpu.codegen.registry import handles
from triton_cpu.codegen.shape import like
from triton_cpu.codegen.values import Buffer, Splat, Tensor
from triton_cpu.llvm.emit import BF16, F32, I32, I64, Type, Value

if TYPE_CHECKING:
    from triton_cpu.codegen.lowering import Lowering
    from triton_cpu.ttir import Operation


@handles("tt.dot")
def dot(f: Lowering, operation: Operation) -> None:
    f.flush()
    a, b, c = (f.settled_tensor(name) for name in operation.operands)
    a_kind, b_kind, c_kind = operation.operand_types
    compute = _compute_type(c_kind.scalar)
    if _has_pair_products(f, a, b, compute):
        left, right = _paired_rows(f, a), _paired_columns(f, b)
    else:
        left = operand(f, a, compute, a_kind.fp8)
        right = operand(f, b, compute, b_kind.fp8)
    result = accumulator(f, c, operation.operands[2], compute)
    multiply(f, left, right, result)
    if compute != c_kind.scalar:
        narrow = f.allocate(result.shape, c_kind.scalar)
        f.fill(narrow, result, lambda value: narrowed(f, value, c_kind.scalar.scalar))
        result = narrow
    f.bind(operation.results[0], result)


def _compute_type(kind: Type) -> Type:
    """Sums of half precision products are kept in single precision."""
    return F32 if kind.scalar in ("half", "bfloat") else kind


def _has_pair_products(f: Lowering, a: Tensor, b: Tensor, compute: Type) -> bool:
    """Whether AVX512-BF16 multiplies these operands: two products of bfloat16 a lane."""
    return (
        f.options.native_bf16
        and f.options.vector_bytes == 64
        and (a.type, b.type, compute) == (BF16, BF16, F32)
        and a.shape[-1] >= 2
        and b.shape[-1] >= 16
    )


def _paired_rows(f: Lowering, tensor: Tensor) -> Buffer:
    """Neighbours along K, which lie side by side in memory already, as one i32."""
    tile = f.dense(tensor)
    return like(tile, (*tile.shape[:-1], tile.shape[-1] // 2), I32)


def _paired_columns(f: Lowering, tensor: Tensor) -> Buffer:
    """Two rows of B woven into one: a lane holds B[k, n] below B[k + 1, n]."""
    e = f.e
    shape = (*tensor.shape[:-2], tensor.shape[-2] // 2, tensor.shape[-1])
    tile = f.allocate(shape, I32)
    row = len(shape) - 2

    def half(place: Place, odd: int) -> Value:
        base = list(place.base)
        base[row] = e.add(e.mul(base[row], e.const(I64, 2)), e.const(I64, odd))
        lanes = list(place.lanes)
        lanes[row] = tuple(2 * step for step in lanes[row])
        value = tensor.at(f, Place(base, tuple(lanes), place.width, place.cache))
        bits = e.bitcast(value, value.type.of("i16"))
        return e.resize(bits, "i32", signed=False)

    def body(place: Place) -> None:
        low, high = half(place, 0), half(place, 1)
        high = e.binary("shl", high, e.const(high.type, 16))
        tile.store(f, place, e.binary("or", low, high))

    f.each_chunk(shape, f.lanes_for(I32), body)
    return tile


def operand(f: Lowering, tensor: Tensor, compute: Type, fp8: str | None) -> Buffer:
    """A dense tile of the type that the multiplication computes in."""
    if tensor.type == compute and not fp8:
        return f.dense(tensor)
    tile = f.allocate(tensor.shape, compute)

    def change(value: Value) -> Value:
        if fp8:
            from triton_cpu.math.casts import from_fp8

            return from_fp8(f.e, value, fp8, compute.scalar)
        if compute.is_int:
            return f.e.resize(value, compute.scalar)
        return narrowed(f, value, compute.scalar)

    f.fill(tile, tensor, change)
    return tile


def accumulator(f: Lowering, tensor: Tensor, name: str, compute: Type) -> Buffer:
    """The tile to add to: the operand's own memory where nobody else reads it."""
    if tensor.type == compute and f.is_dense(tensor) and f.owned(tensor, name):
        assert isinstance(tensor, Buffer)
        return Buffer(tensor.shape, tensor.type, tensor.pointer, tensor.strides)
    tile = f.allocate(tensor.shape, compute)
    if isinstance(tensor, Splat) and tensor.value.constant == 0:
        f.fill(tile, Splat(tensor.shape, f.e.const(compute, 0)))
    elif tensor.type == compute:
        f.fill(tile, tensor)
    else:
        f.fill(tile, tensor, lambda value: narrowed(f, value, compute.scalar))
    return tile


def multiply(f: Lowering, a: Buffer, b: Buffer, c: Buffer) -> None:
    """``c += a @ b`` over dense tiles, leading dimensions batched.

    ``a`` and ``b`` have the type of ``c``, or are i32 that hold pairs of bfloat16.
    """
    e = f.e
    m, k = a.shape[-2:]
    n = b.shape[-1]
    batch = 1
    for size in a.shape[:-2]:
        batch *= size
    rows, width, vectors = _register_tile(f, c.type, m, n)
    zero = e.const(I64, 0)

    def one(index: Value) -> None:
        tiles = [
            e.gep(buffer.type, buffer.pointer, e.mul(index, e.const(I64, size)))
            for buffer, size in ((a, m * k), (b, k * n), (c, m * n))
        ]

        def column(n0: Value) -> None:
            def row(m0: Value) -> None:
                _tile(f, (a.type, c.type), tiles, (m, n, k), (rows, width, vectors), m0, n0)

            e.loop(zero, e.const(I64, m), rows, row)

        e.loop(zero, e.const(I64, n), width * vectors, column)

    e.loop(zero, e.const(I64, batch), 1, one)


def _register_tile(f: Lowering, kind: Type, m: int, n: int) -> tuple[int, int, int]:
    """Rows, lanes of a vector, and vectors of a row, as the registers hold them."""
    registers = 32 if f.options.vector_bytes == 64 else 16
    width = min(n, f.options.vector_bytes // kind.bytes)
    vectors = 2 if n >= 2 * width else 1
    rows = 1
    while rows * 2 <= m and rows * 2 * vectors + vectors + 1 <= registers and rows < 16:
        rows *= 2
    return rows, width, vectors


def _tile(
    f: Lowering,
    kinds: tuple[Type, Type],
    tiles: list[Value],
    sizes: tuple[int, int, int],
    tile: tuple[int, int, int],
    m0: Value,
    n0: Value,
) -> None:
    e = f.e
    held, kind = kinds
    (a, b, c), (_, n, k), (rows, width, vectors) = tiles, sizes, tile
    vector = kind.with_lanes(width if width > 1 else 0)
    places, slots = [], []
    for i in range(rows):
        for j in range(vectors):
            row = e.mul(e.add(m0, e.const(I64, i)), e.const(I64, n))
            offset = e.add(row, e.add(n0, e.const(I64, j * width)))
            places.append(e.gep(kind, c, offset))
            slots.append(e.slot(vector))
            e.store(e.load(vector, places[-1], kind.bytes), slots[-1])

    def step(index: Value) -> None:
        row = e.add(e.mul(index, e.const(I64, n)), n0)
        right = [
            e.load(
                held.with_lanes(vector.lanes),
                e.gep(held, b, e.add(row, e.const(I64, j * width))),
                held.bytes,
            )
            for j in range(vectors)
        ]
        for i in range(rows):
            offset = e.add(e.mul(e.add(m0, e.const(I64, i)), e.const(I64, k)), index)
            left = e.load(held, e.gep(held, a, offset))
            spread = e.splat(left, width) if vector.lanes else left
            for j in range(vectors):
                slot = slots[i * vectors + j]
                total = e.load(vector, slot)
                e.store(_multiply_add(f, spread, right[j], total), slot)

    e.loop(e.const(I64, 0), e.const(I64, k), 1, step)
    for place, slot in zip(places, slots, strict=True):
        e.store(e.load(vector, slot), place, kind.bytes)


def _multiply_add(f: Lowering, a: Value, b: Value, total: Value) -> Value:
    if a.type.is_int and total.type.is_float:
        pairs = BF16.with_lanes(2 * a.type.lanes)
        return f.e.call(
            "llvm.x86.avx512bf16.dpbf16ps.512",
            total.type,
            [total, f.e.bitcast(a, pairs), f.e.bitcast(b, pairs)],
        )
    if a.type.is_float:
        return f.e.intrinsic("fma", [a, b, total])
    return f.e.binary("add", f.e.binary("mul", a, b), total)
