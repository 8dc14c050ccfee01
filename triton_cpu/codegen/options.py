# SPDX-License-Identifier: Apache-2.0
"""What the code generator is told and what it returns."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CodegenOptions:
    """About the CPU that the code is for."""

    vector_bytes: int = 64
    """Width of a vector register."""
    streaming_bytes: int = 64
    """Width of the registers through which a kernel that does little besides should move data."""
    native_bf16: bool = False
    """Whether LLVM has instructions for float to bfloat conversion on this CPU."""
    debug: bool = True
    """Whether tl.device_assert checks."""


@dataclass(frozen=True)
class Generated:
    """A kernel as LLVM IR text."""

    name: str
    llvm_ir: str
    scratch_bytes: int
    """64-byte aligned memory that each running program needs."""
    externals: tuple[str, ...]
    """C functions that the code calls; LLVM's intrinsics are not among them."""
