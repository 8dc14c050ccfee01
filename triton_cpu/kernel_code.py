# SPDX-License-Identifier: Apache-2.0
"""Lets a compiled kernel answer for ``asm["launcher.so"]``, which AOTInductor asks of it.

Triton's compiled kernel holds the files of its cache entry by their suffix, so that a second shared
object has no place among them. It is made when it is asked for: a kernel launched from Python never
needs one.
"""

from __future__ import annotations

from typing import Any

from triton.compiler import compiler as triton_compiler

LAUNCHER = "launcher.so"


class KernelCode(dict[str, Any]):
    """A CPU kernel's code by the name of its form, its AOTInductor launcher among it."""

    def __init__(self, held: dict[str, Any], signature: tuple[Any, ...], metadata: Any) -> None:
        super().__init__(held)
        self._signature = signature
        self._scratch_bytes: int = metadata.scratch_bytes

    def __missing__(self, key: str) -> Any:
        from triton_cpu.binary.native_launcher import native_launcher
        from triton_cpu.host import cpu

        if key != LAUNCHER:
            raise KeyError(f"a CPU kernel has no {key}; it has {', '.join([*self, LAUNCHER])}")
        self[key] = native_launcher(self._signature, self._scratch_bytes, cpu())
        return self[key]

    def get(self, key: str, default: Any = None) -> Any:
        return self[key] if key == LAUNCHER else super().get(key, default)


def offer_launchers() -> None:
    """From here on, every CPU kernel that Triton compiles or finds in its cache has KernelCode."""
    kernel = triton_compiler.CompiledKernel
    plain = kernel.__init__
    if getattr(plain, "offers_launchers", False):
        return

    def make(self: Any, src: Any, *arguments: Any, **named: Any) -> None:
        plain(self, src, *arguments, **named)
        if self.metadata.target.backend == "cpu":
            self.asm = KernelCode(self.asm, tuple(src.signature.values()), self.metadata)

    make.offers_launchers = True  # type: ignore[attr-defined]
    kernel.__init__ = make
