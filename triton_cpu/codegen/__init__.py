# SPDX-License-Identifier: Apache-2.0
"""From a TTIR module in generic text to one LLVM function.

    generate(text, CodegenOptions()) -> Generated

The function has the signature that docs/triton_cpu.md fixes for every kernel:
``void name(const void *args, i32 x, i32 y, i32 z, i32 gx, i32 gy, i32 gz, void *scratch)``.
"""

from triton_cpu.codegen.errors import CodegenError
from triton_cpu.codegen.generate import generate
from triton_cpu.codegen.options import CodegenOptions, Generated

__all__ = ["CodegenError", "CodegenOptions", "Generated", "generate"]
