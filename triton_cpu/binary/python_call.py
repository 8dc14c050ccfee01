# SPDX-License-Identifier: Apache-2.0
"""A launch as one built-in function of Python, without a Python frame or ctypes in its way.

It handles what nearly every launch has: tensors, integers and floats, and no hooks. Anything else
it passes on, argument for argument, to the launcher written in Python. It is LLVM IR against
CPython's C interface, so that no C compiler is needed.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from typing import Any

from triton_cpu.slots import Slot

MOST_SLOTS = 64
"""A kernel with more arguments goes through Python."""

BEFORE_ARGUMENTS = 9
"""What Triton passes ahead of the kernel's arguments: grid, stream, function, metadata, hooks."""

_POINTER, _SIGNED, _F32, _F64, _U64 = range(5)
_KINDS = {"*": _POINTER, "fp32": _F32, "f32": _F32, "fp64": _F64, "u64": _U64}
_KINDS |= {f"{sign}{bits}": _SIGNED for sign in "iu" for bits in (1, 8, 16, 32)} | {"i64": _SIGNED}

_METH_FASTCALL = 0x80

# `self` is a tuple: layout (bytes), slow launcher, thread count, raiser, "data_ptr", "calls".
# The layout: slots, bytes of scratch, arguments; then for each slot its argument and its kind.
PYTHON_CALL_IR = f"""
declare ptr @PyTuple_GetItem(ptr, i64)
declare ptr @PyBytes_AsString(ptr)
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)
declare ptr @PyObject_VectorcallMethod(ptr, ptr, i64, ptr)
declare ptr @PyObject_CallNoArgs(ptr)
declare ptr @PyObject_GetAttr(ptr, ptr)
declare i64 @PyObject_Size(ptr)
declare i64 @PyLong_AsLongLong(ptr)
declare i64 @PyLong_AsUnsignedLongLong(ptr)
declare double @PyFloat_AsDouble(ptr)
declare ptr @PyErr_Occurred()
declare void @PyErr_Clear()
declare void @Py_DecRef(ptr)
declare void @Py_IncRef(ptr)
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare i32 @triton_cpu_launch(ptr, ptr, i32, i32, i32, i32, i64)

@triton_cpu_none = global ptr null

; Whether a hook has nothing to do: it is None, or a chain whose list of calls is empty.
define internal i1 @idle(ptr %hook, ptr %calls_name) {{
entry:
  %none = load ptr, ptr @triton_cpu_none
  %absent = icmp eq ptr %hook, %none
  br i1 %absent, label %yes, label %look
yes:
  ret i1 true
look:
  %calls = call ptr @PyObject_GetAttr(ptr %hook, ptr %calls_name)
  %other = icmp eq ptr %calls, null
  br i1 %other, label %no, label %count
no:
  ret i1 false
count:
  %size = call i64 @PyObject_Size(ptr %calls)
  call void @Py_DecRef(ptr %calls)
  %empty = icmp eq i64 %size, 0
  ret i1 %empty
}}

define ptr @triton_cpu_call(ptr %self, ptr %arguments, i64 %count) {{
entry:
  %slots = alloca [{MOST_SLOTS} x i64], align 64
  %one = alloca ptr
  %layout_object = call ptr @PyTuple_GetItem(ptr %self, i64 0)
  %layout = call ptr @PyBytes_AsString(ptr %layout_object)
  %data_ptr = call ptr @PyTuple_GetItem(ptr %self, i64 4)
  %calls_name = call ptr @PyTuple_GetItem(ptr %self, i64 5)
  %number = load i64, ptr %layout
  %scratch_at = getelementptr i64, ptr %layout, i64 1
  %scratch = load i64, ptr %scratch_at
  %expected_at = getelementptr i64, ptr %layout, i64 2
  %expected = load i64, ptr %expected_at
  %fits = icmp eq i64 %count, %expected
  br i1 %fits, label %hooks, label %slow
hooks:
  %enter_at = getelementptr ptr, ptr %arguments, i64 7
  %enter = load ptr, ptr %enter_at
  %exit_at = getelementptr ptr, ptr %arguments, i64 8
  %exit = load ptr, ptr %exit_at
  %enter_idle = call i1 @idle(ptr %enter, ptr %calls_name)
  br i1 %enter_idle, label %second, label %slow
second:
  %exit_idle = call i1 @idle(ptr %exit, ptr %calls_name)
  br i1 %exit_idle, label %head, label %slow
head:
  %i = phi i64 [0, %second], [%i1, %next]
  %inside = icmp ult i64 %i, %number
  br i1 %inside, label %slot, label %grid
slot:
  %base = getelementptr i64, ptr %layout, i64 3
  %entry_at = getelementptr {{ i32, i32 }}, ptr %base, i64 %i
  %index = load i32, ptr %entry_at, align 4
  %kind_at = getelementptr i32, ptr %entry_at, i64 1
  %kind = load i32, ptr %kind_at, align 4
  %wide_index = zext i32 %index to i64
  %argument_at = getelementptr ptr, ptr %arguments, i64 %wide_index
  %argument = load ptr, ptr %argument_at
  %slot_at = getelementptr [{MOST_SLOTS} x i64], ptr %slots, i64 0, i64 %i
  switch i32 %kind, label %slow [
    i32 {_POINTER}, label %pointer
    i32 {_SIGNED}, label %signed
    i32 {_F32}, label %f32
    i32 {_F64}, label %f64
    i32 {_U64}, label %u64
  ]
pointer:
  store ptr %argument, ptr %one
  %address = call ptr @PyObject_VectorcallMethod(ptr %data_ptr, ptr %one, i64 1, ptr null)
  %no_tensor = icmp eq ptr %address, null
  br i1 %no_tensor, label %slow, label %take
take:
  %bits = call i64 @PyLong_AsUnsignedLongLong(ptr %address)
  call void @Py_DecRef(ptr %address)
  store i64 %bits, ptr %slot_at
  br label %checked
signed:
  %integer = call i64 @PyLong_AsLongLong(ptr %argument)
  store i64 %integer, ptr %slot_at
  %doubtful = icmp eq i64 %integer, -1
  br i1 %doubtful, label %checked, label %next
u64:
  %natural = call i64 @PyLong_AsUnsignedLongLong(ptr %argument)
  store i64 %natural, ptr %slot_at
  %doubtful_natural = icmp eq i64 %natural, -1
  br i1 %doubtful_natural, label %checked, label %next
f32:
  %wide = call double @PyFloat_AsDouble(ptr %argument)
  %narrow = fptrunc double %wide to float
  store i64 0, ptr %slot_at
  store float %narrow, ptr %slot_at
  br label %checked
f64:
  %double = call double @PyFloat_AsDouble(ptr %argument)
  store double %double, ptr %slot_at
  br label %checked
checked:
  %error = call ptr @PyErr_Occurred()
  %bad = icmp ne ptr %error, null
  br i1 %bad, label %slow, label %next
next:
  %i1 = add i64 %i, 1
  br label %head
grid:
  %x_object = load ptr, ptr %arguments
  %x = call i64 @PyLong_AsLongLong(ptr %x_object)
  %y_at = getelementptr ptr, ptr %arguments, i64 1
  %y_object = load ptr, ptr %y_at
  %y = call i64 @PyLong_AsLongLong(ptr %y_object)
  %z_at = getelementptr ptr, ptr %arguments, i64 2
  %z_object = load ptr, ptr %z_at
  %z = call i64 @PyLong_AsLongLong(ptr %z_object)
  %function_at = getelementptr ptr, ptr %arguments, i64 4
  %function_object = load ptr, ptr %function_at
  %function_bits = call i64 @PyLong_AsUnsignedLongLong(ptr %function_object)
  %function = inttoptr i64 %function_bits to ptr
  %any = or i64 %x, %y
  %all = or i64 %any, %z
  ; Negative or too large: Python says it better. An error left -1 behind.
  %large = icmp ugt i64 %all, 2147483647
  br i1 %large, label %slow, label %sized
sized:
  %gx = trunc i64 %x to i32
  %gy = trunc i64 %y to i32
  %gz = trunc i64 %z to i32
  %single = icmp ule i64 %all, 1
  br i1 %single, label %go, label %ask
ask:
  %threads_function = call ptr @PyTuple_GetItem(ptr %self, i64 2)
  %threads_object = call ptr @PyObject_CallNoArgs(ptr %threads_function)
  %unknown = icmp eq ptr %threads_object, null
  br i1 %unknown, label %slow, label %told
told:
  %wide_threads = call i64 @PyLong_AsLongLong(ptr %threads_object)
  call void @Py_DecRef(ptr %threads_object)
  %some_threads = trunc i64 %wide_threads to i32
  br label %go
go:
  %threads = phi i32 [1, %sized], [%some_threads, %told]
  %state = call ptr @PyEval_SaveThread()
  %failed = call i32 @triton_cpu_launch(ptr %function, ptr %slots, i32 %gx, i32 %gy, i32 %gz,
                                        i32 %threads, i64 %scratch)
  call void @PyEval_RestoreThread(ptr %state)
  %sound = icmp eq i32 %failed, 0
  br i1 %sound, label %done, label %broken
done:
  %none = load ptr, ptr @triton_cpu_none
  call void @Py_IncRef(ptr %none)
  ret ptr %none
broken:
  %raiser = call ptr @PyTuple_GetItem(ptr %self, i64 3)
  %raised = call ptr @PyObject_CallNoArgs(ptr %raiser)
  ret ptr %raised
slow:
  call void @PyErr_Clear()
  %slow_function = call ptr @PyTuple_GetItem(ptr %self, i64 1)
  %result = call ptr @PyObject_Vectorcall(ptr %slow_function, ptr %arguments, i64 %count, ptr null)
  ret ptr %result
}}
"""


class MethodDefinition(ctypes.Structure):
    """CPython's PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def layout(items: Sequence[Slot], arguments: int, scratch_bytes: int) -> bytes | None:
    """What triton_cpu_call reads of a kernel, or None when the kernel is not for it."""
    if len(items) > MOST_SLOTS or any(len(item.path) > 1 for item in items):
        return None
    if any(item.kind not in _KINDS for item in items):
        return None
    head = struct.pack("<3q", len(items), scratch_bytes, BEFORE_ARGUMENTS + arguments)
    places = (
        struct.pack("<2i", BEFORE_ARGUMENTS + item.path[0], _KINDS[item.kind]) for item in items
    )
    return head + b"".join(places)


def builtin(
    library: ctypes.CDLL,
    description: bytes,
    slow: Callable[..., Any],
    threads: Callable[[], int],
    raiser: Callable[[], Any],
) -> Callable[..., Any]:
    """The built-in function that launches one kernel.

    Args:
        library: PYTHON_CALL_IR, loaded.
        description: Of the kernel, from ``layout``.
        slow: Takes the same arguments, for the launches that are not for the quick way.
        threads: How many threads a launch may use.
        raiser: Raises the error of a launch whose assertion failed.
    """
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    make.restype = ctypes.py_object
    owner = (description, slow, threads, raiser, "data_ptr", "calls")
    function: Callable[..., Any] = make(ctypes.addressof(_definition(library)), owner, None)
    return function


_definitions: list[MethodDefinition] = []
"""CPython keeps the address of the definition, so it must live for as long as the process."""


def _definition(library: ctypes.CDLL) -> MethodDefinition:
    if not _definitions:
        ctypes.c_void_p.in_dll(library, "triton_cpu_none").value = id(None)
        address = ctypes.cast(library.triton_cpu_call, ctypes.c_void_p).value
        _definitions.append(
            MethodDefinition(b"launch", address, _METH_FASTCALL, b"Launches one compiled kernel.")
        )
    return _definitions[0]
