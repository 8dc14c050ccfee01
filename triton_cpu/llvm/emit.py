# SPDX-License-Identifier: Apache-2.0
"""Writes one LLVM module as text. Every value carries its type; constants fold where it is free.

The writer knows nothing of Triton. It checks that operands fit, because a mistake found here names
the Python line that made it, and one found by LLVM's parser does not.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import NamedTuple

FLOAT_BITS = {"half": 16, "bfloat": 16, "float": 32, "double": 64}


class Type(NamedTuple):
    """A scalar (``lanes`` 0) or a vector. ``scalar`` is LLVM's word: i1, i32, float, ptr, ..."""

    scalar: str
    lanes: int = 0

    def __str__(self) -> str:
        return f"<{self.lanes} x {self.scalar}>" if self.lanes else self.scalar

    @property
    def is_float(self) -> bool:
        return self.scalar in FLOAT_BITS

    @property
    def is_int(self) -> bool:
        return self.scalar[0] == "i" and self.scalar[1:].isdigit()

    @property
    def is_pointer(self) -> bool:
        return self.scalar == "ptr"

    @property
    def bits(self) -> int:
        """Of one lane."""
        if self.is_pointer:
            return 64
        return FLOAT_BITS.get(self.scalar) or int(self.scalar[1:])

    @property
    def bytes(self) -> int:
        """Of one lane in memory; an i1 takes a byte there."""
        return (self.bits + 7) // 8

    def of(self, scalar: str) -> Type:
        """The same shape with another scalar."""
        return Type(scalar, self.lanes)

    def with_lanes(self, lanes: int) -> Type:
        return Type(self.scalar, lanes)

    @property
    def suffix(self) -> str:
        """As intrinsics spell it: v8f32."""
        names = {"float": "f32", "double": "f64", "half": "f16", "bfloat": "bf16", "ptr": "p0"}
        name = names.get(self.scalar, self.scalar)
        return f"v{self.lanes}{name}" if self.lanes else name


I1, I8, I16, I32, I64 = Type("i1"), Type("i8"), Type("i16"), Type("i32"), Type("i64")
F16, BF16, F32, F64 = Type("half"), Type("bfloat"), Type("float"), Type("double")
PTR = Type("ptr")


class Value(NamedTuple):
    """An SSA name or a constant's text, with its type."""

    type: Type
    text: str
    constant: int | float | None = None
    """The Python number, for scalar constants and splats of one."""


def float_text(value: float, scalar: str) -> str:
    """A floating constant as LLVM writes it: by its bits, so that nothing is rounded twice."""
    if scalar == "double":
        return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
    if scalar == "half":
        return f"0xH{struct.unpack('<H', struct.pack('<e', value))[0]:04X}"
    try:
        single = struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        single = float("inf") if value > 0 else float("-inf")
    if scalar == "float":
        return f"0x{struct.unpack('<Q', struct.pack('<d', single))[0]:016X}"
    bits = struct.unpack("<I", struct.pack("<f", single))[0]
    if single != single:
        return f"0xR{(bits >> 16) | 0x40:04X}"
    return f"0xR{((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16) & 0xFFFF:04X}"


class Emitter:
    """One function under construction, and the module's declarations and globals.

    Branches are written through ``loop`` and ``if_then``; straight code through the rest.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.entry: list[str] = []
        """Stack slots; they go to the function's first block."""
        self.declarations: dict[str, str] = {}
        self.globals: list[str] = []
        self.block = "start"
        self._number = 0

    # -- names and constants -------------------------------------------------------------------

    def fresh(self, prefix: str = "v") -> str:
        self._number += 1
        return f"{prefix}{self._number}"

    def const(self, type: Type, value: int | float | bool) -> Value:
        """A constant, the same in every lane of a vector."""
        if type.is_float:
            number: int | float = float(value)
            text = float_text(number, type.scalar)
        elif type.is_pointer:
            number, text = 0, "null"
        else:
            number = int(value)
            text = str(bool(number & 1)).lower() if type.scalar == "i1" else str(number)
        if type.lanes:
            text = f"splat ({type.scalar} {text})"
        return Value(type, text, number)

    def lanes(self, scalar: Type, values: Sequence[int | float]) -> Value:
        """A constant vector with different lanes."""
        parts = [f"{scalar} {self.const(scalar, value).text}" for value in values]
        return Value(scalar.with_lanes(len(values)), "<" + ", ".join(parts) + ">")

    def poison(self, type: Type) -> Value:
        return Value(type, "poison")

    # -- instructions --------------------------------------------------------------------------

    def write(self, line: str) -> None:
        self.lines.append("  " + line)

    def value(self, type: Type, instruction: str) -> Value:
        """Writes an instruction that has a result."""
        name = "%" + self.fresh()
        self.write(f"{name} = {instruction}")
        return Value(type, name)

    def binary(self, op: str, a: Value, b: Value, flags: str = "") -> Value:
        """``op`` is LLVM's: add, fmul, and, shl, ...; both operands have one type."""
        assert a.type == b.type, (op, a, b)
        return self.value(a.type, f"{op} {flags + ' ' if flags else ''}{a.type} {a.text}, {b.text}")

    def add(self, a: Value, b: Value) -> Value:
        """Integer addition that folds what it can."""
        if a.constant == 0:
            return b
        if b.constant == 0:
            return a
        if a.constant is not None and b.constant is not None:
            return self.const(a.type, wrap(int(a.constant) + int(b.constant), a.type.bits))
        return self.binary("add", a, b)

    def mul(self, a: Value, b: Value) -> Value:
        """Integer multiplication that folds what it can."""
        if a.constant == 0 or b.constant == 1:
            return a
        if b.constant == 0 or a.constant == 1:
            return b
        if a.constant is not None and b.constant is not None:
            return self.const(a.type, wrap(int(a.constant) * int(b.constant), a.type.bits))
        return self.binary("mul", a, b)

    def compare(self, predicate: str, a: Value, b: Value) -> Value:
        """``predicate`` is LLVM's for the operands' kind: slt, eq, olt, une, ..."""
        assert a.type == b.type, (predicate, a, b)
        kind = "fcmp" if a.type.is_float else "icmp"
        return self.value(a.type.of("i1"), f"{kind} {predicate} {a.type} {a.text}, {b.text}")

    def select(self, condition: Value, a: Value, b: Value) -> Value:
        assert a.type == b.type, (a, b)
        return self.value(
            a.type,
            f"select {condition.type} {condition.text}, {a.type} {a.text}, {b.type} {b.text}",
        )

    def cast(self, op: str, a: Value, scalar: str) -> Value:
        """``op`` is LLVM's: sext, fptrunc, bitcast, ...; lanes stay."""
        to = a.type.of(scalar)
        return self.value(to, f"{op} {a.type} {a.text} to {to}")

    def resize(self, a: Value, scalar: str, signed: bool = True) -> Value:
        """An integer of another width."""
        to = a.type.of(scalar)
        if to == a.type:
            return a
        if a.constant is not None:
            number = int(a.constant)
            if not signed:
                number &= (1 << a.type.bits) - 1
            return self.const(to, wrap(number, to.bits))
        op = "trunc" if to.bits < a.type.bits else ("sext" if signed else "zext")
        return self.cast(op, a, scalar)

    def bitcast(self, a: Value, to: Type) -> Value:
        return a if a.type == to else self.value(to, f"bitcast {a.type} {a.text} to {to}")

    def call(self, name: str, result: Type | None, arguments: Sequence[Value]) -> Value:
        """Calls and declares a function; ``result`` None is void (the Value is then of no use)."""
        kinds = ", ".join(str(argument.type) for argument in arguments)
        returned = str(result) if result else "void"
        self.declarations[name] = f"declare {returned} @{name}({kinds})"
        inside = ", ".join(f"{argument.type} {argument.text}" for argument in arguments)
        if result is None:
            self.write(f"call void @{name}({inside})")
            return Value(I1, "poison")
        return self.value(result, f"call {result} @{name}({inside})")

    def intrinsic(self, name: str, arguments: Sequence[Value]) -> Value:
        """An LLVM intrinsic overloaded on its first operand's type, which it also returns."""
        first = arguments[0].type
        return self.call(f"llvm.{name}.{first.suffix}", first, arguments)

    def splat(self, a: Value, lanes: int) -> Value:
        """A scalar in every lane."""
        if a.constant is not None:
            return self.const(a.type.with_lanes(lanes), a.constant)
        to = a.type.with_lanes(lanes)
        first = self.value(to, f"insertelement {to} poison, {a.type} {a.text}, i64 0")
        zeros = f"<{lanes} x i32> zeroinitializer"
        return self.value(to, f"shufflevector {to} {first.text}, {to} poison, {zeros}")

    def extract(self, a: Value, lane: int) -> Value:
        to = Type(a.type.scalar)
        return self.value(to, f"extractelement {a.type} {a.text}, i64 {lane}")

    def insert(self, a: Value, item: Value, lane: int) -> Value:
        return self.value(
            a.type, f"insertelement {a.type} {a.text}, {item.type} {item.text}, i64 {lane}"
        )

    def shuffle(self, a: Value, b: Value | None, indices: Sequence[int]) -> Value:
        """Lanes of ``a`` and then ``b`` by index."""
        other = b.text if b else "poison"
        mask = ", ".join(f"i32 {index}" for index in indices)
        to = a.type.with_lanes(len(indices))
        return self.value(
            to,
            f"shufflevector {a.type} {a.text}, {a.type} {other}, <{len(indices)} x i32> <{mask}>",
        )

    def each_lane(self, a: Sequence[Value], one: Callable[[list[Value]], Value]) -> Value:
        """Does lane by lane what has no vector form; scalars are done as they are."""
        lanes = a[0].type.lanes
        if not lanes:
            return one(list(a))
        result: Value | None = None
        for lane in range(lanes):
            item = one([self.extract(value, lane) for value in a])
            if result is None:
                result = self.poison(item.type.with_lanes(lanes))
            result = self.insert(result, item, lane)
        assert result is not None
        return result

    # -- memory --------------------------------------------------------------------------------

    def gep(self, element: Type, pointer: Value, offset: Value) -> Value:
        """``pointer`` plus ``offset`` elements (scalars or vectors of either)."""
        if offset.constant == 0 and not offset.type.lanes:
            return pointer
        lanes = max(pointer.type.lanes, offset.type.lanes)
        return self.value(
            PTR.with_lanes(lanes),
            f"getelementptr {element.scalar}, {pointer.type} {pointer.text}, "
            f"{offset.type} {offset.text}",
        )

    def load(self, type: Type, pointer: Value, align: int | None = None) -> Value:
        return self.value(type, f"load {type}, ptr {pointer.text}, align {align or type.bytes}")

    def store(self, a: Value, pointer: Value, align: int | None = None) -> None:
        self.write(f"store {a.type} {a.text}, ptr {pointer.text}, align {align or a.type.bytes}")

    def slot(self, type: Type, count: int = 1, align: int = 64) -> Value:
        """A stack slot in the entry block, for small things only."""
        name = "%" + self.fresh("slot")
        self.entry.append(f"  {name} = alloca [{count} x {type}], align {align}")
        return Value(PTR, name)

    # -- control flow --------------------------------------------------------------------------

    def label(self, name: str) -> None:
        self.lines.append(name + ":")
        self.block = name

    def branch(self, to: str) -> None:
        self.write(f"br label %{to}")

    def branch_if(self, condition: Value, then: str, otherwise: str) -> None:
        self.write(f"br i1 {condition.text}, label %{then}, label %{otherwise}")

    def loop(self, start: Value, stop: Value, step: int, body: Callable[[Value], None]) -> None:
        """``for i in range(start, stop, step)`` over scalars; one constant turn is written out."""
        if (
            start.constant is not None
            and stop.constant is not None
            and int(stop.constant) - int(start.constant) <= step
        ):
            if int(stop.constant) > int(start.constant):
                body(start)
            return
        head, inside, after = (self.fresh(part) for part in ("head", "body", "done"))
        before = self.block
        self.branch(head)
        self.label(head)
        place = len(self.lines)
        counter = Value(start.type, "%" + self.fresh("i"))
        self.lines.append("")
        self.branch_if(self.compare("slt", counter, stop), inside, after)
        self.label(inside)
        body(counter)
        following = self.value(
            start.type, f"add nsw {start.type} {counter.text}, {self.const(start.type, step).text}"
        )
        self.lines[place] = (
            f"  {counter.text} = phi {start.type} [{start.text}, %{before}], "
            f"[{following.text}, %{self.block}]"
        )
        self.branch(head)
        self.label(after)

    def if_then(self, condition: Value, then: Callable[[], None]) -> None:
        """Runs ``then`` where a scalar condition holds."""
        inside, after = self.fresh("then"), self.fresh("after")
        self.branch_if(condition, inside, after)
        self.label(inside)
        then()
        self.branch(after)
        self.label(after)


def wrap(value: int, bits: int) -> int:
    """A Python integer as the signed integer of so many bits."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if bits > 1 and value >> (bits - 1) else value
