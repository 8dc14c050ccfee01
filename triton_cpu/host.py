# SPDX-License-Identifier: Apache-2.0
"""What the CPU of this machine can do: the name and features that LLVM compiles for."""

from __future__ import annotations

import functools
import os
import platform
from dataclasses import dataclass

import llvmlite.binding as llvm

LEVELS = {"x86_64": ("x86-64-v3", "x86-64-v4"), "aarch64": ("generic",)}
"""For each supported machine, the CPUs besides its own whose features are known here."""


class UnsupportedCPU(RuntimeError):
    """This machine's CPU cannot run what the code generator writes."""


@dataclass(frozen=True)
class CPU:
    """A CPU as LLVM knows it."""

    machine: str
    """x86_64 or aarch64."""
    name: str
    """LLVM's name of the CPU: znver4, sapphirerapids, neoverse-v1, or one of ``LEVELS``."""
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

    def lacks(self, other: CPU) -> tuple[str, ...]:
        """The listed features of ``other`` that are missing here."""
        wanted = (item for item in other._listed.split(",") if item.startswith("+"))
        return tuple(item[1:] for item in wanted if not self.has(item[1:]))

    @property
    def _listed(self) -> str:
        return self.features or _features_of_level(self.name)


def _features_of_level(name: str) -> str:
    """The features of x86-64's levels that the code generator asks about (x86-64 psABI)."""
    third = "+avx,+avx2,+bmi,+bmi2,+f16c,+fma"
    fourth = third + ",+avx512f,+avx512bw,+avx512cd,+avx512dq,+avx512vl"
    return {"x86-64-v3": third, "x86-64-v4": fourth}.get(name, "")


@functools.lru_cache
def cpu() -> CPU:
    """The CPU to compile for: this machine's own, or the level that TRITON_CPU_ARCH names.

    Raises:
        UnsupportedCPU: neither x86-64 with AVX2 nor aarch64, or a name that is not known here.
    """
    own = _own()
    wanted = os.environ.get("TRITON_CPU_ARCH")
    if not wanted or wanted == own.name:
        return own
    # Of other names LLVM would not say which features they have, and it ends the process for one
    # that it does not know.
    known = LEVELS[own.machine]
    if wanted not in known:
        raise UnsupportedCPU(
            f"triton_cpu: TRITON_CPU_ARCH={wanted} is not known on {own.machine}: "
            f"choose {', '.join(known)}, or {own.name}, which this machine is"
        )
    return CPU(own.machine, wanted, "")


def missing_features() -> tuple[str, ...]:
    """What the CPU that is compiled for has and this machine's own lacks, in LLVM's words."""
    return _own().lacks(cpu())


@functools.lru_cache
def _own() -> CPU:
    machine = platform.machine()
    if machine not in LEVELS:
        raise UnsupportedCPU(
            f"triton_cpu: {machine} is not supported; supported: {', '.join(LEVELS)}"
        )
    found = CPU(machine, llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten())
    if machine == "x86_64" and not found.has("avx2"):
        raise UnsupportedCPU(f"triton_cpu: {found.name} lacks AVX2, which every kernel needs")
    return found
