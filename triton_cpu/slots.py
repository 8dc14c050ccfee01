# SPDX-License-Identifier: Apache-2.0
"""Which kernel argument goes into which 8-byte slot, from Triton's signature of the kernel.

A slot holds a pointer, an integer widened to 64 bits by its own sign, or a float in its low bytes.
Constant expressions take none; tuples are flattened; a tensor descriptor becomes what Triton's pass
makes of it: base, shape, strides, flags, and then shape and strides once more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

CPP_TYPES = {
    "i1": "int8_t",
    "i8": "int8_t",
    "i16": "int16_t",
    "i32": "int32_t",
    "i64": "int64_t",
    "u1": "uint8_t",
    "u8": "uint8_t",
    "u16": "uint16_t",
    "u32": "uint32_t",
    "u64": "uint64_t",
    "fp16": "double",
    "bf16": "double",
    "fp32": "double",
    "f32": "double",
    "fp64": "double",
}
"""Scalar types by Triton's name, and the C++ type that holds a Python value of each."""

_DESCRIPTOR = re.compile(r"tensordesc<[^\[>]*\[([^\]]*)\]")


class Slot(NamedTuple):
    """One slot: where its value stands among the arguments, and how it is written."""

    path: tuple[int, ...]
    """Index of the argument, then indices into nested tuples."""
    kind: str
    """``*``, a key of CPP_TYPES, or ``tensordesc:<dimensions>``."""


class UnknownArgument(TypeError):
    """A type in a kernel's signature that has no slot."""


def cpp_type(kind: str) -> str:
    """The C++ type of one argument of Triton type ``kind``.

    Raises:
        UnknownArgument: no such type.
    """
    if kind.startswith("*"):
        return "void*"
    if kind not in CPP_TYPES:
        raise _unknown(kind)
    return CPP_TYPES[kind]


def slots(signature: Sequence[Any]) -> list[Slot]:
    """The slots of a kernel, from the types of its arguments in order.

    Raises:
        UnknownArgument: a type that cannot be passed.
    """
    return [slot for index, kind in enumerate(signature) for slot in _flatten(kind, (index,))]


def _flatten(kind: Any, path: tuple[int, ...]) -> Iterator[Slot]:
    if isinstance(kind, (tuple, list)):
        for index, inner in enumerate(kind):
            yield from _flatten(inner, (*path, index))
    elif kind == "constexpr" or kind is None:
        return
    elif kind.startswith("*") or kind in CPP_TYPES:
        yield Slot(path, "*" if kind.startswith("*") else kind)
    elif found := _DESCRIPTOR.match(kind):
        yield Slot(path, f"tensordesc:{found[1].count(',') + 1}")
    else:
        raise _unknown(kind)


def _unknown(kind: str) -> UnknownArgument:
    return UnknownArgument(f"triton_cpu: a kernel takes no argument of type {kind}")


def descriptor_flags(slot_types: Sequence[str], dimensions: int) -> int:
    """How many boolean flags a descriptor has in the installed Triton (one in 3.6, then two).

    Args:
        slot_types: Types of the compiled function's arguments, beginning with the descriptor.
        dimensions: Of the descriptor.
    """
    count = 0
    while slot_types[1 + 2 * dimensions + count] == "i1":
        count += 1
    return count
