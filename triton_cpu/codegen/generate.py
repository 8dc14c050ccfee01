# SPDX-License-Identifier: Apache-2.0
"""Compiles the kernel of a module: its arguments, its body, and the text around them."""

from __future__ import annotations

from triton_cpu.codegen import (
    atomics,
    constants,
    control,
    dot,
    dot_scaled,
    elementwise,
    indexing,
    memory,
    output,
    program,
    reduction,
    scan,
    shape,
)
from triton_cpu.codegen.errors import CodegenError
from triton_cpu.codegen.lowering import Lowering
from triton_cpu.codegen.options import CodegenOptions, Generated
from triton_cpu.llvm.emit import I1, I8, Type, Value
from triton_cpu.ttir import Function, Module, parse

FAMILIES = (
    atomics,
    constants,
    control,
    dot,
    dot_scaled,
    indexing,
    memory,
    output,
    program,
    reduction,
    scan,
    shape,
)
"""Importing a family fills the table of operations."""

elementwise.install()


def generate(module_text: str, options: CodegenOptions) -> Generated:
    """Raises CodegenError for what a CPU cannot run, ParseError for text that is not TTIR."""
    module = parse(module_text)
    kernel = module.entry
    f = Lowering(module, kernel.name, options)
    f.uses = kernel.uses
    _bind_arguments(f, kernel)
    try:
        control.run_blocks(f, kernel.blocks, ())
    except TypeError as error:
        if "machine type" in str(error):
            raise f.refuse(str(error)) from error
        raise
    return Generated(
        kernel.name,
        _text(f),
        f.scratch_bytes,
        tuple(sorted(name for name in f.e.declarations if not name.startswith("llvm."))),
    )


def _bind_arguments(f: Lowering, kernel: Function) -> None:
    block = kernel.blocks[0]
    pairs = zip(block.arguments, block.argument_types, strict=True)
    for number, (name, kind) in enumerate(pairs):
        try:
            scalar = kind.scalar
        except TypeError as error:
            raise CodegenError(f"argument {number}: {error}", f.name) from error
        slot, value = f"%place.{number}", f"%argument.{number}"
        f.e.entry.append(f"  {slot} = getelementptr i8, ptr %args, i64 {8 * number}")
        held = I8 if scalar == I1 else scalar
        loaded = f"{value}.byte" if scalar == I1 else value
        f.e.entry.append(f"  {loaded} = load {held}, ptr {slot}, align 8")
        if scalar == I1:
            f.e.entry.append(f"  {value} = trunc i8 {loaded} to i1")
        f.env[name] = Value(Type(scalar.scalar), value)


_ALSO_COMPUTING = ("math.", "tt.dot", "tt.reduce", "tt.scan", "tt.call", "tt.extern", "arith.div")


def _only_streams(module: Module) -> bool:
    """Whether moving data is what the kernel spends its time with."""
    return not any(
        operation.name.startswith(_ALSO_COMPUTING)
        for function in module.functions.values()
        for block in function.blocks
        for outer in block.operations
        for operation in outer.walk()
    )


def _text(f: Lowering) -> str:
    streams = _only_streams(f.module)
    bits = 8 * (f.options.streaming_bytes if streams else f.options.vector_bytes)
    parameters = (
        "ptr noalias readonly %args, i32 %x, i32 %y, i32 %z, i32 %gx, i32 %gy, i32 %gz, "
        "ptr noalias %scratch"
    )
    return "\n".join(
        [
            *f.e.globals,
            f"define void @{f.name}({parameters}) #0 {{",
            "entry:",
            *f.e.entry,
            "  br label %start",
            "start:",
            *f.e.lines,
            "  ret void",
            "}",
            *(f.e.declarations[name] for name in sorted(f.e.declarations)),
            f'attributes #0 = {{ nounwind "prefer-vector-width"="{bits}" '
            f'"min-legal-vector-width"="{bits}" "no-trapping-math"="true" }}',
            "",
        ]
    )
