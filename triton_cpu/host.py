# SPDX-License-Identifier: Apache-2.0
"""What the CPU of this machine can do: the name and features that LLVM compiles for."""

from __future__ import annotations

import functools
import os
import platform
from dataclasses import dataclass

import llvmlite.binding as llvm

SUPPORTED_MACHINES = ("x86_64", "aarch64")


class UnsupportedCPU(RuntimeError):
    """This machine's CPU cannot run what the code generator writes."""


@dataclass(frozen=True)
class CPU:
    """A CPU as LLVM knows it."""

    machine: str
    """x86_64 or aarch64."""
    name: str
    """LLVM's name of the CPU: znver4, skylake-avx512, neoverse-v1, x86-64-v3, ..."""
    features: str
    """LLVM's list of features, "+avx2,-sse4a,..."; empty means those of the name."""

    @property
    def triple(self) -> str:
        return f"{self.machine}-unknown-linux-gnu"

    def has(self, feature: str) -> bool:
        """``feature`` is LLVM's word: avx512f, avx512bf16, amx-bf16, neon, bf16, ..."""
        return f"+{feature}" in self._listed.split(",")

    @property
    def vector_bits(self) -> int:
        """The widest registers worth using."""
        if self.has("avx512f") and self.has("avx512vl"):
            return 512
        return 256 if self.has("avx2") else 128

    @property
    def streaming_bits(self) -> int:
        """Of the registers that move most bytes a second: zen4 splits what wide ones store."""
        return min(self.vector_bits, 256) if self.name == "znver4" else self.vector_bits

    @property
    def _listed(self) -> str:
        return self.features or _features_of_level(self.name)


def _features_of_level(name: str) -> str:
    """The features of x86-64's levels that the code generator asks about (x86-64 psABI)."""
    third = "+avx,+avx2,+bmi,+bmi2,+f16c,+fma"
    fourth = third + ",+avx512f,+avx512bw,+avx512cd,+avx512dq,+avx512vl"
    return {"x86-64-v3": third, "x86-64-v4": fourth}.get(name, "")


@functools.lru_cache
def cpu(name: str = "") -> CPU:
    """The CPU to compile for: TRITON_CPU_ARCH, or ``name``, or this machine's own.

    A name other than the machine's own stands for all that LLVM knows of that CPU, no more.

    Raises:
        UnsupportedCPU: neither x86-64 with AVX2 nor aarch64.
    """
    machine = platform.machine()
    if machine not in SUPPORTED_MACHINES:
        raise UnsupportedCPU(
            f"triton_cpu: {machine} is not supported; supported: {', '.join(SUPPORTED_MACHINES)}"
        )
    own = llvm.get_host_cpu_name()
    wanted = os.environ.get("TRITON_CPU_ARCH") or name
    if wanted and wanted != own:
        return CPU(machine, wanted, "")
    found = CPU(machine, own, llvm.get_host_cpu_features().flatten())
    if machine == "x86_64" and not found.has("avx2"):
        raise UnsupportedCPU(f"triton_cpu: {own} lacks AVX2, which every kernel needs")
    return found
