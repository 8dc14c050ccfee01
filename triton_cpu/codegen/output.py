# SPDX-License-Identifier: Apache-2.0
"""tt.print and tt.assert: text made with snprintf, handed to the run time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triton_cpu.codegen.elementwise import widen
from triton_cpu.codegen.place import Place
from triton_cpu.codegen.registry import handles
from triton_cpu.codegen.values import Tensor
from triton_cpu.llvm.emit import I8, I32, I64, PTR, Value

if TYPE_CHECKING:
    from triton_cpu.codegen.lowering import Lowering
    from triton_cpu.ttir import Operation

LINE_BYTES = 1024
"""Longest line that a kernel prints; more is cut."""

# Weak: whoever loads the kernel may bring functions of these names, and the dynamic linker then
# takes those. With none, a kernel loads and runs all the same, as in what AOTInductor packages.
_WRITE_ALL = """define internal void @write_all(i32 %file, ptr %text, i64 %bytes) {
entry:
  br label %head
head:
  %at = phi ptr [%text, %entry], [%next, %more]
  %left = phi i64 [%bytes, %entry], [%rest, %more]
  %done = call i64 @write(i32 %file, ptr %at, i64 %left)
  %wrong = icmp sle i64 %done, 0
  br i1 %wrong, label %end, label %more
more:
  %next = getelementptr i8, ptr %at, i64 %done
  %rest = sub i64 %left, %done
  %all = icmp eq i64 %rest, 0
  br i1 %all, label %end, label %head
end:
  ret void
}"""
_PRINT = """define weak void @triton_cpu_print(ptr %text, i64 %bytes) {
  call void @write_all(i32 1, ptr %text, i64 %bytes)
  ret void
}"""
_FAIL = """define weak void @triton_cpu_fail(ptr %text, i64 %bytes) {
  call void @write_all(i32 2, ptr %text, i64 %bytes)
  call void @abort()
  ret void
}"""


def text_constant(f: Lowering, text: str) -> tuple[Value, int]:
    """A zero-ended string in the module, and its length."""
    data = text.encode() + b"\0"
    name = "@" + f.e.fresh("text")
    inside = "".join(
        chr(byte) if 32 <= byte < 127 and byte not in (34, 92) else f"\\{byte:02X}" for byte in data
    )
    f.e.globals.append(f'{name} = private unnamed_addr constant [{len(data)} x i8] c"{inside}"')
    return Value(PTR, name), len(data) - 1


def _supply(f: Lowering, name: str, definition: str) -> None:
    """Defines ``name`` for the case that whoever loads the kernel does not."""
    f.e.declarations |= {
        name: definition,
        "write_all": _WRITE_ALL,
        "write": "declare i64 @write(i32, ptr, i64)",
        "abort": "declare void @abort()",
    }


def _format(f: Lowering, form: str, values: list[Value]) -> tuple[Value, Value]:
    """snprintf into a stack buffer: the text and its length."""
    e = f.e
    buffer = e.slot(I8, LINE_BYTES)
    pattern, _ = text_constant(f, form)
    e.declarations["snprintf"] = "declare i32 @snprintf(ptr, i64, ptr, ...)"
    arguments = "".join(f", {value.type} {value.text}" for value in values)
    written = e.value(
        I32,
        f"call i32 (ptr, i64, ptr, ...) @snprintf(ptr {buffer.text}, i64 {LINE_BYTES}, "
        f"ptr {pattern.text}{arguments})",
    )
    most = e.const(I32, LINE_BYTES - 1)
    length = e.select(e.compare("slt", written, most), written, most)
    return buffer, e.resize(length, "i64")


def _promoted(f: Lowering, value: Value, signed: bool, hexadecimal: bool) -> tuple[str, Value]:
    """printf's conversion for a scalar, and the value as C passes it."""
    e, kind = f.e, value.type
    if kind.is_pointer:
        return "%p", value
    if kind.is_float:
        wide = widen(f, value)
        if hexadecimal:
            bits = e.bitcast(wide, wide.type.of(f"i{wide.type.bits}"))
            return f"0x%0{wide.type.bits // 4}llx", e.resize(bits, "i64", False)
        return "%f", wide if wide.type.scalar == "double" else e.cast("fpext", wide, "double")
    if hexadecimal:
        return f"0x%0{max(1, kind.bits // 4)}llx", e.resize(value, "i64", False)
    if kind.scalar == "i1":
        signed = False
    return ("%lld" if signed else "%llu"), e.resize(value, "i64", signed)


@handles("tt.print")
def device_print(f: Lowering, operation: Operation) -> None:
    """One line an element, as on a GPU: ``pid (x, y, z) idx (i, j) prefix value``."""
    f.flush()
    e = f.e
    prefix = operation.text("prefix").replace("%", "%%")
    signed = operation.integers("isSigned")
    hexadecimal = operation.flag("hex")
    ids = [Value(I32, f"%{axis}") for axis in "xyz"]
    values = [f.settled(name) for name in operation.operands]

    def line(index: list[Value], value: Value | None, number: int) -> None:
        form, arguments = "pid (%d, %d, %d)", list(ids)
        if value is None:
            form += f"{prefix}\n"
        else:
            held = values[number]
            shape = held.shape if isinstance(held, Tensor) else ()
            # Columns line up: an index takes the room of its axis's last one.
            places = ", ".join(f"%{len(str(size - 1))}lld" for size in shape)
            operand = f"(operand {number}) " if len(values) > 1 else ""
            sign = bool(signed[number]) if number < len(signed) else True
            conversion, passed = _promoted(f, value, sign, hexadecimal)
            form += f" idx ({places}){prefix}{operand}{conversion}\n"
            arguments += [*index, passed]
        text, length = _format(f, form, arguments)
        e.call("triton_cpu_print", None, [text, length])
        _supply(f, "triton_cpu_print", _PRINT)

    if not values:
        line([], None, 0)
    for number, value in enumerate(values):
        if isinstance(value, Value):
            line([], value, number)
            continue

        def body(place: Place, value: Tensor = value, number: int = number) -> None:
            line(list(place.base), value.at(f, place), number)

        f.each_chunk(value.shape, 1, body)


@handles("tt.assert")
def device_assert(f: Lowering, operation: Operation) -> None:
    """The first element that fails ends the launch with the message."""
    if not f.options.debug:
        return
    f.flush()
    e = f.e
    message = operation.text("message")
    place_text = operation.location or f.name
    file, _, line = place_text.rpartition(":")
    whole = f"{file}:{line}: {f.name}: device-side assertion failed: {message}"
    condition = f.settled(operation.operands[0])

    def check(value: Value) -> None:
        wrong = e.compare("eq", value, e.const(value.type, 0))

        failed, passed = e.fresh("failed"), e.fresh("passed")
        e.branch_if(wrong, failed, passed)
        e.label(failed)
        text, length = text_constant(f, whole)
        e.call("triton_cpu_fail", None, [text, e.const(I64, length)])
        _supply(f, "triton_cpu_fail", _FAIL)
        # What follows may rely on what was asserted.
        e.write("ret void")
        e.label(passed)

    if isinstance(condition, Value):
        check(condition)
        return
    held: Tensor = condition
    f.each_chunk(held.shape, 1, lambda place: check(held.at(f, place)))
