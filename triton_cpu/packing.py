# SPDX-License-Identifier: Apache-2.0
"""Writes a Python function for each signature that packs a launch's arguments into slots.

Generated, because a launch takes a few microseconds, of which a loop over arguments would be half.
"""

from __future__ import annotations

import math
import struct
import sys
from collections.abc import Callable, Sequence
from typing import Any

from triton_cpu.slots import Slot, descriptor_flags, slots

_FORMATS = {"*": "Q", "fp32": "f4x", "f32": "f4x", "fp64": "d", "fp16": "e6x", "bf16": "Q"}
"""How struct writes a slot; every integer is 64 bits wide, see _format."""

_ALL_ONES = (1 << 64) - 1


class BadArgument(TypeError):
    """A launch argument that does not fit the kernel's signature."""


def _format(kind: str) -> str:
    if kind in _FORMATS:
        return _FORMATS[kind]
    return "Q" if kind.startswith("u") else "q"


def bfloat16_bits(value: float) -> int:
    """The bits of a bf16, rounded to nearest even from the float's f32 value."""
    if math.isnan(value):
        return 0x7FC0
    bits: int = struct.unpack("<I", struct.pack("<f", _single(value)))[0]
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


def _single(value: float) -> float:
    """A float that struct can write as f32: what is too large becomes infinite, as in C."""
    try:
        struct.pack("<f", value)
    except OverflowError:
        return math.copysign(math.inf, value)
    return value


def _half(value: float) -> float:
    try:
        struct.pack("<e", value)
    except OverflowError:
        return math.copysign(math.inf, value)
    return value


_ON_HOST = {"cpu", "meta"}


def admit(device_type: str) -> None:
    """Declares that tensors of this device type lie in the host's own memory, as a simulated
    device's do: kernels then take them.
    """
    _ON_HOST.add(device_type)


def pointer(value: Any) -> int:
    """The address that an argument stands for: a tensor, an address, an array, or None.

    Raises:
        BadArgument: it stands for no address on this machine.
    """
    if value is None:
        return 0
    if hasattr(value, "data_ptr"):
        device = getattr(value, "device", None)
        if device is not None and getattr(device, "type", "cpu") not in _ON_HOST:
            raise BadArgument(
                f"Pointer argument lies on {device}, and this kernel runs on the CPU: "
                "move the tensor, or call triton_cpu.disable()"
            )
        return int(value.data_ptr())
    if isinstance(value, int):
        return value & _ALL_ONES
    if hasattr(value, "__array_interface__"):
        return int(value.__array_interface__["data"][0])
    raise BadArgument(f"Pointer argument must be a tensor, an address or None, not {type(value)}")


def may_be_elsewhere() -> bool:
    """Whether tensors of this process may lie on a device whose memory the CPU cannot reach."""
    torch = sys.modules.get("torch")
    accelerator = getattr(torch, "accelerator", None)
    return accelerator is not None and bool(accelerator.is_available())


def packer(signature: Sequence[Any], slot_types: Sequence[str]) -> Callable[..., bytes]:
    """A function of all the kernel's arguments (constant expressions too) that returns its slots.

    Args:
        signature: Triton's types of the arguments, in order.
        slot_types: Types of the compiled function's arguments; only descriptors need them.
    """
    careful, layout = _careful(slots(signature), slot_types)
    quick = _quick(len(signature), slots(signature), layout)
    if quick is None or may_be_elsewhere():
        return careful
    return _either(quick, careful)


def _either(quick: Callable[..., bytes], careful: Callable[..., bytes]) -> Callable[..., bytes]:
    def pack(*arguments: Any) -> bytes:
        try:
            return quick(*arguments)
        except (AttributeError, struct.error, OverflowError, TypeError):
            return careful(*arguments)

    return pack


def quick_expressions(items: Sequence[Slot]) -> list[str] | None:
    """Python expressions of the slots' values over arguments a0, a1, ... for the usual kinds.

    None when a slot needs more care than an expression can take.
    """
    expressions = []
    for item in items:
        if item.kind.startswith("tensordesc") or item.kind == "bf16":
            return None
        text = f"a{item.path[0]}" + "".join(f"[{index}]" for index in item.path[1:])
        expressions.append(f"{text}.data_ptr()" if item.kind == "*" else text)
    return expressions


def _quick(count: int, items: Sequence[Slot], layout: str) -> Callable[..., bytes] | None:
    expressions = quick_expressions(items)
    if expressions is None:
        return None
    parameters = ", ".join(f"a{index}" for index in range(count))
    source = f"lambda {parameters}: pack({', '.join(expressions)})"
    function: Callable[..., bytes] = eval(source, {"pack": struct.Struct(layout).pack})
    return function


def _careful(items: Sequence[Slot], slot_types: Sequence[str]) -> tuple[Callable[..., bytes], str]:
    """The packer that takes every argument, and the struct layout of all slots."""
    layout = "<"
    flags = []
    place = 0
    for item in items:
        if item.kind.startswith("tensordesc"):
            dimensions = int(item.kind.partition(":")[2])
            flags.append(descriptor_flags(slot_types[place:], dimensions))
            width = 1 + 4 * dimensions + flags[-1]
            layout += "Q" + "q" * (width - 1)
            place += width
        else:
            layout += _format(item.kind)
            place += 1
    pack = struct.Struct(layout).pack

    def careful(*arguments: Any) -> bytes:
        values: list[Any] = []
        remaining = iter(flags)
        for item in items:
            value: Any = arguments
            for index in item.path:
                value = value[index]
            if item.kind.startswith("tensordesc"):
                values += _descriptor(value, next(remaining))
            else:
                values.append(_value(value, item))
        return pack(*values)

    return careful, layout


def _value(value: Any, item: Slot) -> Any:
    kind = item.kind
    if kind == "*":
        return pointer(value)
    try:
        if kind == "bf16":
            return bfloat16_bits(float(value))
        if kind in ("fp32", "f32"):
            return _single(float(value))
        if kind == "fp16":
            return _half(float(value))
        if kind == "fp64":
            return float(value)
        number = int(value)
    except (TypeError, ValueError):
        raise BadArgument(
            f"Argument {item.path[0]} must be of type {kind}, not {type(value).__name__}"
        ) from None
    if kind.startswith("u"):
        return number & ((1 << int(kind[1:])) - 1)
    return (number & _ALL_ONES) - ((number & 1 << 63) << 1)


def _descriptor(value: Any, flags: int) -> list[int]:
    shape, strides = [int(size) for size in value.shape], [int(step) for step in value.strides]
    given = [getattr(value, "padding", "zero") == "nan", getattr(value, "round_f32_to_tf32", False)]
    return [
        pointer(value.base),
        *shape,
        *strides,
        *(int(bool(flag)) for flag in given[:flags]),
        *shape,
        *strides,
    ]
