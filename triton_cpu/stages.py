# SPDX-License-Identifier: Apache-2.0
"""The two stages after Triton's own: TTIR to LLVM IR text, and that to the shared object."""

from __future__ import annotations

import hashlib
from typing import Any

from triton._C.libtriton import ir

from triton_cpu import dump
from triton_cpu.binary.link import link
from triton_cpu.binary.optimise import compile_dumps, compile_object
from triton_cpu.cache import SEAL
from triton_cpu.codegen import CodegenError, CodegenOptions, Generated, generate
from triton_cpu.compiler import ABI_VERSION, CPUOptions
from triton_cpu.host import CPU

_GENERIC_FORM = "generic_form"
"""An attribute that belongs to no dialect. The module then fails verification, and MLIR prints what
does not verify in its generic form, which is the one that a short parser can read."""


def make_llir(module: Any, metadata: dict[str, Any], options: CPUOptions, cpu: CPU) -> str:
    """Generates LLVM IR and fills in the metadata that the launcher needs.

    Raises:
        CodegenError: the kernel cannot run on a CPU; it names the kernel and the line.
    """
    name = module.get_entry_func_name()
    signature = module.get_function_signature(module.get_function(name))
    dump.write(name, "ttir", str(module))
    plain, located = _generic(module)
    dump.write(name, "generic.mlir", plain)
    made = _generate(plain, located, options, cpu)
    dump.write(name, "ll", made.llvm_ir)
    metadata.update(
        name=made.name,
        shared=0,
        abi_version=ABI_VERSION,
        scratch_bytes=made.scratch_bytes,
        slots=[_slot_type(item) for item in signature],
        cpu_name=cpu.name,
        cpu_features=cpu.features,
    )
    return made.llvm_ir


def make_so(text: str, metadata: dict[str, Any], cpu: CPU) -> bytes:
    """Optimises, emits and links; seals the result in the metadata."""
    binary = link(compile_object(text, cpu))
    metadata[SEAL] = hashlib.sha256(binary).hexdigest()
    if dump.folder():
        for suffix, content in compile_dumps(text, cpu).items():
            dump.write(metadata["name"], suffix, content)
        dump.write(metadata["name"], "so", binary)
    return binary


def _generic(module: Any) -> tuple[str, str]:
    """The module's generic form without and with source locations; the module is invalid after."""
    module.set_attr(_GENERIC_FORM, ir.builder(module.context).get_unit_attr())
    return module.str_nodebug(), str(module)


def _generate(plain: str, located: str, options: CPUOptions, cpu: CPU) -> Generated:
    """Locations cost time to parse, so they are read only where somebody will see them."""
    settings = CodegenOptions(
        vector_bytes=cpu.vector_bits // 8,
        streaming_bytes=cpu.streaming_bits // 8,
        native_bf16=cpu.has("avx512bf16") or cpu.has("bf16"),
        debug=options.debug,
    )
    if '"tt.assert"' in plain:
        return generate(located, settings)
    try:
        return generate(plain, settings)
    except CodegenError:
        return generate(located, settings)


def _slot_type(mlir_type: str) -> str:
    """ptr, i1, i32, f32, ...: the type as docs/triton_cpu.md lists it."""
    return "ptr" if mlir_type.startswith(("!tt.ptr", "*")) else mlir_type
