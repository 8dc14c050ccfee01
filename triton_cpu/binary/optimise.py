# SPDX-License-Identifier: Apache-2.0
"""LLVM IR text to a relocatable object, through llvmlite's LLVM.

llvmlite rather than the LLVM inside libtriton: its interface is documented and stable over Triton's
releases (libtriton's ``translate_to_asm`` changed in each of 3.6 to 3.9, which also stopped setting
up X86), it finds the host's features, and it serves aarch64.
"""

from __future__ import annotations

import functools
import re
import threading

import llvmlite.binding as llvm

from triton_cpu.host import CPU

_DEFINE = re.compile(r"^(define [^{\n]*?)\s*\{$", re.MULTILINE)
_ATTRIBUTES = "#999"
_lock = threading.Lock()
"""LLVM's global context, which llvmlite parses into, serves one thread at a time."""


class InvalidIR(RuntimeError):
    """LLVM refused the generated text: a fault of the code generator."""


@functools.lru_cache
def _target_machine(cpu: CPU) -> llvm.TargetMachine:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_triple(cpu.triple)
    return target.create_target_machine(
        cpu=cpu.name, features=cpu.features, opt=3, reloc="pic", codemodel="small"
    )


def with_attributes(ir: str, cpu: CPU) -> str:
    """Gives the functions of ``ir`` a vector width and the promise that nothing unwinds.

    A kernel brings attributes of its own; the run time's functions have none.

    LLVM keeps to 256 bits on most AVX-512 machines unless each function says otherwise, and
    llvmlite sets no string attributes, so they are added to the text.
    """
    if "prefer-vector-width" in ir:
        return ir
    width = cpu.vector_bits
    attributes = (
        f"attributes {_ATTRIBUTES} = {{ nounwind "
        f'"prefer-vector-width"="{width}" "min-legal-vector-width"="{width}" '
        f'"no-trapping-math"="true" }}'
    )
    return _DEFINE.sub(rf"\1 {_ATTRIBUTES} {{", ir) + "\n" + attributes + "\n"


def compile_object(ir: str, cpu: CPU) -> bytes:
    """Optimises ``ir`` (O3) and returns its relocatable ELF object.

    Raises:
        InvalidIR: LLVM's parser or verifier refused the text.
    """
    with _lock:
        machine = _target_machine(cpu)
        module = _optimised(ir, cpu, machine)
        return bytes(machine.emit_object(module))


def compile_dumps(ir: str, cpu: CPU) -> dict[str, str]:
    """The optimised IR and the assembly of ``ir``, for people: {"opt.ll": ..., "s": ...}."""
    with _lock:
        machine = _target_machine(cpu)
        module = _optimised(ir, cpu, machine)
        return {"opt.ll": str(module), "s": machine.emit_assembly(module)}


def _optimised(ir: str, cpu: CPU, machine: llvm.TargetMachine) -> llvm.ModuleRef:
    try:
        module = llvm.parse_assembly(with_attributes(ir, cpu))
        module.triple = cpu.triple
        module.data_layout = str(machine.target_data)
        module.verify()
    except RuntimeError as error:
        raise InvalidIR(str(error).strip()) from None
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = True
    options.slp_vectorization = True
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return module
