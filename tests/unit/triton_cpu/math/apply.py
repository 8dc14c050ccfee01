# SPDX-License-Identifier: Apache-2.0
"""Runs one function written with an Emitter over numpy arrays, compiled for this processor."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from itertools import count

import llvmlite.binding as llvm
import numpy as np

from triton_cpu.llvm.emit import I64, PTR, Emitter, Type, Value

llvm.initialize_native_target()
llvm.initialize_native_asmprinter()

NUMPY = {
    "i1": np.dtype(np.uint8),
    "i8": np.dtype(np.int8),
    "i16": np.dtype(np.int16),
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
    "half": np.dtype(np.float16),
    "bfloat": np.dtype(np.uint16),
    "float": np.dtype(np.float32),
    "double": np.dtype(np.float64),
}
"""An i1 takes a byte of 0 or 1; a bfloat is held by its bits."""

Function = Callable[[Emitter, list[Value]], Value]
_numbers = count()
_jit = None


def _engine():
    global _jit
    if _jit is None:
        target = llvm.Target.from_default_triple()
        machine = target.create_target_machine(
            cpu=llvm.get_host_cpu_name(),
            features=llvm.get_host_cpu_features().flatten(),
            opt=2,
            jit=True,
        )
        _jit = llvm.create_lljit_compiler(machine), machine
    return _jit


def compiled(function: Function, inputs: list[str], output: str, lanes: int = 16):
    """A callable over arrays of the types named; ``lanes`` 0 goes element by element."""
    emitter = Emitter()
    first = emitter.block
    name = f"applied{next(_numbers)}"
    parameters = [Value(PTR, f"%in{place}") for place in range(len(inputs))]
    step = lanes or 1

    def body(counter: Value) -> None:
        values = []
        for scalar, pointer in zip(inputs, parameters, strict=True):
            stored = Type("i8" if scalar == "i1" else scalar, lanes)
            value = emitter.load(stored, emitter.gep(stored.with_lanes(0), pointer, counter))
            values.append(emitter.resize(value, "i1") if scalar == "i1" else value)
        result = function(emitter, values)
        assert result.type == Type(output, lanes), (result.type, output, lanes)
        if output == "i1":
            result = emitter.resize(result, "i8", signed=False)
        place = emitter.gep(result.type.with_lanes(0), Value(PTR, "%out"), counter)
        emitter.store(result, place)

    emitter.loop(emitter.const(I64, 0), Value(I64, "%n"), step, body)
    head = ", ".join([f"ptr %in{place}" for place in range(len(inputs))] + ["ptr %out", "i64 %n"])
    text = "\n".join(
        [
            *emitter.globals,
            *emitter.declarations.values(),
            f"define void @{name}({head}) {{",
            f"{first}:",
            *emitter.entry,
            *emitter.lines,
            "  ret void",
            "}",
        ]
    )
    module = llvm.parse_assembly(text)
    module.verify()
    jit, machine = _engine()
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    library = (
        llvm.JITLibraryBuilder()
        .add_ir(module)
        .export_symbol(name)
        .add_current_process()
        .link(jit, name)
    )
    address = library[name]
    call = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (len(inputs) + 1), ctypes.c_int64)(address)

    def run(*arrays: np.ndarray) -> np.ndarray:
        size = arrays[0].size
        padded = -(-size // step) * step
        given = []
        for scalar, array in zip(inputs, arrays, strict=True):
            whole = np.zeros(padded, NUMPY[scalar])
            whole[:size] = array.reshape(-1)
            given.append(whole)
        out = np.zeros(padded, NUMPY[output])
        call(*[array.ctypes.data for array in given], out.ctypes.data, padded)
        return out[:size]

    run.library = library  # keeps the code alive
    run.text = text
    return run
