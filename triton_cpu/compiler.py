# SPDX-License-Identifier: Apache-2.0
"""The compiler that Triton finds: its stages ttir -> llir -> so, and the options of a kernel."""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import llvmlite
from triton._C.libtriton import ir, passes
from triton.backends.compiler import BaseBackend, GPUTarget

from triton_cpu import host

ABI_VERSION = 1
"""Of the shared object and its metadata (docs/triton_cpu.md); raised when either changes."""

_INPUT_PRECISIONS = ("ieee", "tf32", "tf32x3", "bf16x3", "bf16x6")
_FP8_KINDS = ("fp8e4b15", "fp8e4b8", "fp8e4nv", "fp8e5", "fp8e5b16")


@dataclass(frozen=True)
class CPUOptions:
    """What Triton's front end reads of a back end's options, and what is in the cache key.

    Warps, stages and clusters mean nothing here. They are accepted and folded to one, so that an
    autotuner's configurations which differ in nothing else are compiled once.
    """

    num_warps: int = 1
    num_ctas: int = 1
    num_stages: int = 1
    warp_size: int = 1
    enable_fp_fusion: bool = True
    launch_cooperative_grid: bool = False
    launch_pdl: bool = False
    maxnreg: int | None = None
    ir_override: str | None = None
    supported_fp8_dtypes: tuple[str, ...] = _FP8_KINDS
    deprecated_fp8_dot_operand_dtypes: tuple[str, ...] = ()
    default_dot_input_precision: str = "ieee"
    allowed_dot_input_precisions: tuple[str, ...] = _INPUT_PRECISIONS
    max_num_imprecise_acc_default: int = 0
    extern_libs: tuple[tuple[str, str], ...] = ()
    debug: bool = False
    sanitize_overflow: bool = True
    backend_name: str = "cpu"
    arch: str = ""
    instrumentation_mode: str = ""
    fpsan_homomorphic_casts: bool = False

    def hash(self) -> str:
        return hashlib.sha256(repr(self).encode()).hexdigest()


FOLDED = {"num_warps", "num_ctas", "num_stages", "warp_size", "maxnreg", "extern_libs"}
"""Options that are accepted and change nothing."""


class CPUBackend(BaseBackend):
    """Compiles Triton's IR for the CPU of this machine."""

    binary_ext = "so"

    @staticmethod
    def supports_target(target: GPUTarget) -> bool:
        return bool(target.backend == "cpu")

    def __init__(self, target: GPUTarget) -> None:
        super().__init__(target)
        self.cpu = host.cpu()

    def hash(self) -> str:
        return _fingerprint(self.cpu)

    def parse_options(self, opts: dict[str, Any]) -> CPUOptions:
        warps = opts.get("num_warps") or 1
        if warps < 1 or warps & (warps - 1):
            # The type and words of Triton's GPU back ends: a kernel that runs here must run there.
            raise AssertionError(f"num_warps must be a power of 2, not {warps}")
        known = CPUOptions.__dataclass_fields__.keys() - FOLDED
        given = {name: opts[name] for name in known if opts.get(name) is not None}
        given["arch"] = self.cpu.name
        return CPUOptions(**given)

    def pack_metadata(self, metadata: Any) -> tuple[int, int]:
        return metadata.abi_version, metadata.scratch_bytes

    def get_codegen_implementation(self, options: CPUOptions) -> dict[str, Any]:
        from triton_cpu.libdevice import convert_custom_float8

        return {
            "min_dot_size": lambda left, right: (1, 1, 1),
            "convert_custom_types": convert_custom_float8,
        }

    def get_module_map(self) -> dict[str, Any]:
        from triton_cpu import libdevice

        return {
            "triton.language.extra.libdevice": libdevice,
            "triton.language.extra.cuda.libdevice": libdevice,
        }

    def load_dialects(self, context: Any) -> None:
        """Triton's own dialects are enough."""

    def get_target_name(self, options: CPUOptions) -> str:
        return f"cpu:{options.arch}"

    def add_stages(self, stages: dict[str, Any], options: CPUOptions, language: Any = None) -> None:
        from triton_cpu.stages import make_llir, make_so

        stages["ttir"] = lambda module, metadata: optimise_ttir(module)
        stages["llir"] = lambda module, metadata: make_llir(module, metadata, options, self.cpu)
        stages["so"] = lambda text, metadata: make_so(text, metadata, self.cpu)


def optimise_ttir(module: Any) -> Any:
    """Triton's own target-independent passes, as far as the installed version has them."""
    manager = ir.pass_manager(module.context)
    manager.enable_debug()
    common, ttir = passes.common, passes.ttir
    steps = [
        common.add_inliner,
        # Gone since 3.8, with block pointers lowered by the front end.
        getattr(ttir, "add_rewrite_tensor_pointer", None),
        ttir.add_rewrite_tensor_descriptor_to_pointer,
        common.add_canonicalizer,
        ttir.add_combine,
        ttir.add_reorder_broadcast,
        common.add_cse,
        ttir.add_triton_licm,
        common.add_symbol_dce,
        ttir.add_loop_unroll,
    ]
    for step in steps:
        if step is not None:
            step(manager)
    # 3.6 to 3.9 want a name for the dump of a failing pipeline.
    manager.run(module, "make_ttir")
    return module


@functools.lru_cache
def _fingerprint(cpu: host.CPU) -> str:
    """Of all that decides what a kernel compiles to: the CPU, llvmlite, this package's sources."""
    digest = hashlib.sha256(f"{cpu}{llvmlite.__version__}{ABI_VERSION}".encode())
    root = Path(__file__).parent
    for source in sorted(root.rglob("*.py")):
        digest.update(source.relative_to(root).as_posix().encode())
        digest.update(source.read_bytes())
    return digest.hexdigest()
