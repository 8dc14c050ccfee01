# SPDX-License-Identifier: Apache-2.0
"""Program ids, and operations that mean nothing or little to one CPU thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triton_cpu.codegen.registry import handles
from triton_cpu.llvm.emit import I32, Value

if TYPE_CHECKING:
    from triton_cpu.codegen.lowering import Lowering
    from triton_cpu.ttir import Operation


@handles("tt.get_program_id")
def program_id(f: Lowering, operation: Operation) -> None:
    f.bind(operation.results[0], Value(I32, "%" + "xyz"[operation.integer("axis")]))


@handles("tt.get_num_programs")
def num_programs(f: Lowering, operation: Operation) -> None:
    f.bind(operation.results[0], Value(I32, "%g" + "xyz"[operation.integer("axis")]))


@handles("gpu.barrier", "ttg.barrier", "ttg.local_barrier", "llvm.intr.assume")
def nothing(f: Lowering, operation: Operation) -> None:
    """One thread runs a program alone, so barriers hold by themselves."""


@handles("tt.elementwise_inline_asm")
def inline_assembly(f: Lowering, operation: Operation) -> None:
    raise f.refuse("inline assembly for a GPU cannot run on a CPU")
