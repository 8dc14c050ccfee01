# SPDX-License-Identifier: Apache-2.0
"""arith.constant: MLIR's literals as numbers, dense lists as tables in the module."""

from __future__ import annotations

import functools
import re
import struct
from typing import TYPE_CHECKING

from triton_cpu.codegen.registry import handles
from triton_cpu.codegen.values import Buffer, Splat
from triton_cpu.llvm.emit import I1, I8, PTR, Type, Value, wrap

if TYPE_CHECKING:
    from triton_cpu.codegen.lowering import Lowering
    from triton_cpu.ttir import MlirType, Operation

_FP8_LAYOUT = {
    "f8E4M3FN": (4, 3, 7, "fn"),
    "f8E5M2": (5, 2, 15, "ieee"),
    "f8E4M3B11FNUZ": (4, 3, 11, "fnuz"),
    "f8E4M3FNUZ": (4, 3, 8, "fnuz"),
    "f8E5M2FNUZ": (5, 2, 16, "fnuz"),
}
"""Exponent bits, mantissa bits, bias, and how NaN is written."""


def literal(text: str, kind: Type) -> int | float:
    """One MLIR number; hexadecimal floats are bit patterns."""
    text = text.strip()
    if text in ("true", "false"):
        return int(text == "true")
    if not kind.is_float:
        return wrap(int(text, 0), kind.bits)
    if not text.startswith("0x"):
        return float(text)
    bits = int(text, 16)
    if kind.scalar == "double":
        return float(struct.unpack("<d", struct.pack("<Q", bits))[0])
    if kind.scalar == "half":
        return float(struct.unpack("<e", struct.pack("<H", bits))[0])
    if kind.scalar == "bfloat":
        bits <<= 16
    return float(struct.unpack("<f", struct.pack("<I", bits))[0])


def constant_value(text: str, kind: Type) -> int | float:
    """A scalar attribute such as ``1.0 : f32``."""
    return literal(text.rsplit(" : ", 1)[0] if " : " in text else text, kind)


@functools.cache
def _fp8_values(element: str) -> list[float]:
    exponent_bits, mantissa_bits, bias, style = _FP8_LAYOUT[element]
    values = []
    for code in range(256):
        exponent = (code >> mantissa_bits) & ((1 << exponent_bits) - 1)
        mantissa = code & ((1 << mantissa_bits) - 1)
        top = exponent == (1 << exponent_bits) - 1
        if style == "ieee" and top:
            value = float("nan") if mantissa else float("inf")
        elif (style == "fn" and top and mantissa == (1 << mantissa_bits) - 1) or (
            style == "fnuz" and code == 0x80
        ):
            value = float("nan")
        elif exponent:
            value = (1 + mantissa / (1 << mantissa_bits)) * 2.0 ** (exponent - bias)
        else:
            value = mantissa / (1 << mantissa_bits) * 2.0 ** (1 - bias)
        values.append(-value if code >> 7 else value)
    return values


def fp8_literal(text: str, element: str) -> int:
    """The code of an eight-bit float literal."""
    text = text.strip()
    if text.startswith("0x"):
        return wrap(int(text, 16), 8)
    number = float(text)
    values = _fp8_values(element)
    negative = text.startswith("-")
    codes = [code for code in range(256) if (code >> 7) == negative and values[code] == number]
    return wrap(codes[0] if codes else 0, 8)


def _number(text: str, kind: MlirType) -> int | float:
    return fp8_literal(text, kind.element) if kind.fp8 else literal(text, kind.scalar)


def _table(f: Lowering, kind: MlirType, items: list[str]) -> Buffer:
    """A constant array in the module."""
    scalar = I8 if kind.scalar == I1 else kind.scalar
    name = "@" + f.e.fresh("table")
    parts = [f"{scalar} {f.e.const(scalar, _number(item, kind)).text}" for item in items]
    f.e.globals.append(
        f"{name} = private unnamed_addr constant [{len(parts)} x {scalar}] "
        f"[{', '.join(parts)}], align 64"
    )
    assert kind.shape is not None
    strides, count = [0] * len(kind.shape), 1
    for d in reversed(range(len(kind.shape))):
        strides[d] = count if kind.shape[d] > 1 else 0
        count *= kind.shape[d]
    table = Buffer(kind.shape, kind.scalar, Value(PTR, name), tuple(strides))
    table.shared = True
    return table


@handles("arith.constant")
def constant(f: Lowering, operation: Operation) -> None:
    kind = operation.result_types[0]
    text = operation.attributes["value"]
    if kind.shape is None:
        number = text.rsplit(" : ", 1)[0] if " : " in text else text
        f.bind(operation.results[0], f.e.const(kind.scalar, _number(number, kind)))
        return
    match = re.match(r"dense<(.*)> : ", text, re.DOTALL)
    if match is None:
        raise f.refuse(f"a constant that is not dense: {text[:60]}")
    inside = match[1]
    if inside.startswith("["):
        items = [item.strip() for item in re.sub(r"[\[\]]", "", inside).split(",")]
        f.bind(operation.results[0], _table(f, kind, items))
        return
    if inside.startswith('"'):
        f.bind(operation.results[0], _table(f, kind, _raw_items(inside, kind)))
        return
    f.bind(operation.results[0], Splat(kind.shape, f.e.const(kind.scalar, _number(inside, kind))))


def _raw_items(text: str, kind: MlirType) -> list[str]:
    """The elements of ``"0x..."``, which holds them as bytes, least significant first."""
    data = bytes.fromhex(text.strip('"')[2:])
    size = kind.scalar.bytes
    if kind.scalar == I1:
        return [str((byte >> bit) & 1) for byte in data for bit in range(8)]
    numbers = [int.from_bytes(data[at : at + size], "little") for at in range(0, len(data), size)]
    return [hex(number) if kind.scalar.is_float or kind.fp8 else str(number) for number in numbers]


@handles("ub.poison")
def poison(f: Lowering, operation: Operation) -> None:
    kind = operation.result_types[0]
    value = f.e.poison(kind.scalar)
    f.bind(operation.results[0], value if kind.shape is None else Splat(kind.shape, value))
