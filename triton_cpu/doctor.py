# SPDX-License-Identifier: Apache-2.0
"""`python -m triton_cpu.doctor`: what this machine and the installed Triton offer."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version

import click
from rich.console import Console

MATTERING_FEATURES = (
    "avx2", "fma", "f16c", "avx512f", "avx512vl", "avx512bf16", "avx512fp16", "amx-tile",
    "amx-bf16", "neon", "sve", "bf16",
)  # fmt: skip
"""LLVM's words for what the code generator makes use of."""

OLDEST_TRITON = (3, 6)


class Finding(Exception):
    """Something that keeps kernels from running: what is wrong, and what to do."""


def cpu_line() -> str:
    from triton_cpu.host import UnsupportedCPU, cpu, missing_features

    try:
        found = cpu()
    except UnsupportedCPU as error:
        raise Finding(str(error)) from None
    missing = missing_features()
    if missing:
        raise Finding(
            f"{found.name} is compiled for, but this machine lacks {', '.join(missing)}: "
            "unset TRITON_CPU_ARCH to run kernels here"
        )
    present = " ".join(item for item in MATTERING_FEATURES if found.has(item))
    return f"{found.machine} {found.name}, vectors of {found.vector_bits} bits ({present})"


def triton_line() -> str:
    try:
        text = version("triton")
    except PackageNotFoundError:
        raise Finding("Triton is not installed: pip install triton") from None
    numbers = tuple(int(part) for part in text.split(".")[:2])
    if numbers < OLDEST_TRITON:
        raise Finding(f"Triton {text} is too old: install 3.6 or newer")
    from triton.backends import backends

    if "cpu" not in backends:
        raise Finding("Triton does not find the back end: install this package into the same venv")
    return f"{text}, back ends {', '.join(sorted(backends))}"


def llvm_line() -> str:
    import llvmlite
    import llvmlite.binding as llvm

    return f"llvmlite {llvmlite.__version__}, LLVM {'.'.join(map(str, llvm.llvm_version_info))}"


def active_line() -> str:
    import triton_cpu

    if triton_cpu.is_enabled():
        return "kernels run on the CPU"
    return "kernels go to the GPU until triton_cpu.enable() or TRITON_CPU=1"


def threads_line() -> str:
    import torch

    from triton_cpu.binary.load import runtime
    from triton_cpu.launcher import VARIABLE, BadThreadCount, thread_count

    # The library that brings torch's threads is found once torch is in the process.
    torch.empty(1)
    try:
        count = thread_count()()
    except BadThreadCount as error:
        raise Finding(str(error)) from None
    openmp = runtime().openmp
    if not openmp:
        return "1: torch brings no OpenMP library with GOMP_parallel, so launches are serial"
    source = VARIABLE if os.environ.get(VARIABLE) else "torch.get_num_threads()"
    return f"{count} ({source}) of {len(os.sched_getaffinity(0))} processors, through {openmp}"


def cache_line() -> str:
    from triton import knobs

    folder = knobs.cache.dir
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise Finding(f"{folder} cannot be made ({error.strerror}): set TRITON_CACHE_DIR") from None
    if not os.access(folder, os.W_OK):
        raise Finding(f"{folder} cannot be written: set TRITON_CACHE_DIR")
    return str(folder)


def kernel_line() -> str:
    import torch

    import triton_cpu
    from triton_cpu.bench_kernels import add

    triton_cpu.enable()
    x = torch.arange(10_000, dtype=torch.float32)
    start = time.perf_counter()
    try:
        right = torch.equal(add(x, x), x + x)
    except Exception as error:
        raise Finding(f"a first kernel does not run: {type(error).__name__}: {error}") from None
    if not right:
        raise Finding("a first kernel gives a wrong result: please report this machine")
    return f"a first kernel is right, after {(time.perf_counter() - start) * 1e3:.0f} ms"


CHECKS: dict[str, Callable[[], str]] = {
    "CPU": cpu_line,
    "Triton": triton_line,
    "LLVM": llvm_line,
    "active": active_line,
    "threads": threads_line,
    "cache": cache_line,
    "kernel": kernel_line,
}
COMPILED = ("active", "threads", "kernel")
"""Those that load machine code, which a CPU that was found wanting may not survive."""


@click.command()
def main() -> None:
    """Say what this machine and Triton version support; 1 when kernels cannot run."""
    console = Console(soft_wrap=True)
    broken = 0
    wrong_cpu = False
    for name, check in CHECKS.items():
        if wrong_cpu and name in COMPILED:
            console.print(f"{name:8} not looked at: see CPU", highlight=False, markup=False)
            continue
        try:
            console.print(f"{name:8} {check()}", highlight=False, markup=False)
        except Finding as finding:
            broken += 1
            wrong_cpu = wrong_cpu or name == "CPU"
            console.print(f"{name:8} PROBLEM: {finding}", highlight=False, markup=False)
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
