# SPDX-License-Identifier: Apache-2.0
"""Brings shared objects into the process: kernels, and once the runtime that launches them."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from triton_cpu.binary.link import link
from triton_cpu.binary.optimise import compile_object
from triton_cpu.binary.python_call import PYTHON_CALL_IR
from triton_cpu.binary.runtime import RUNTIME_IR
from triton_cpu.host import CPU, cpu

_OPENMP = re.compile(r"/lib(gomp|iomp5|omp)[^/]*\.so[^/]*$")


class CannotLoad(RuntimeError):
    """The dynamic linker refused a kernel."""


@dataclass(frozen=True)
class Runtime:
    """The loaded runtime; ``launch`` is a ctypes function that releases the interpreter lock."""

    library: ctypes.CDLL
    launch: Any
    openmp: str
    """Path of the OpenMP library whose threads are used, or "" where launches are serial."""

    def failure(self) -> str:
        """The text of the assertion that failed in the last launch."""
        text = ctypes.string_at(self.library.triton_cpu_failure_text)
        return text.decode(errors="replace").strip()


def load(name: str, binary: bytes) -> tuple[ctypes.CDLL, int]:
    """Loads a kernel's shared object; (library, address of function ``name``).

    The library must stay referenced for as long as the address is used.

    Raises:
        CannotLoad: the object is damaged, or calls a function that nothing offers.
    """
    runtime()
    library = _open(name, binary, ctypes.RTLD_LOCAL)
    address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
    assert address is not None
    return library, address


@functools.lru_cache
def runtime() -> Runtime:
    """The runtime, compiled on this machine's first use and then taken from Triton's cache."""
    library = _open("runtime", _own_binary(cpu(), RUNTIME_IR), ctypes.RTLD_GLOBAL)
    openmp, parallel = _find_openmp()
    library.triton_cpu_start(ctypes.c_void_p(parallel))
    launch = library.triton_cpu_launch
    launch.argtypes = [ctypes.c_void_p, ctypes.c_char_p, *[ctypes.c_int] * 4, ctypes.c_int64]
    launch.restype = ctypes.c_int
    return Runtime(library, launch, openmp)


@functools.lru_cache
def python_call() -> ctypes.CDLL | None:
    """The library of binary/python_call.py; None where this Python exports no C interface."""
    runtime()
    try:
        return _open("python_call", _own_binary(cpu(), PYTHON_CALL_IR), ctypes.RTLD_LOCAL)
    except CannotLoad:
        return None


def _own_binary(target: CPU, ir: str) -> bytes:
    """A library of this package, compiled once for each CPU."""
    from triton.runtime.cache import get_cache_manager

    key = hashlib.sha256(f"{target}{ir}{_linker_source()}".encode()).hexdigest()
    cache = get_cache_manager(key)
    # Each entry ends with its own hash, so that half an entry is not taken for one.
    name = "triton_cpu_runtime.so"
    path = cache.get_file(name)
    if path is not None:
        content = Path(path).read_bytes()
        binary, seal = content[:-32], content[-32:]
        if hashlib.sha256(binary).digest() == seal:
            return binary
    binary = link(compile_object(ir, target))
    cache.put(binary + hashlib.sha256(binary).digest(), name)
    return binary


def _linker_source() -> str:
    return "".join(path.read_text() for path in sorted(Path(__file__).parent.glob("*.py")))


def _open(name: str, binary: bytes, mode: int) -> ctypes.CDLL:
    """dlopen of bytes, through a file of a name of its own: dlopen knows a library by its path."""
    from triton import knobs

    os.makedirs(knobs.cache.dir, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=knobs.cache.dir, suffix=".so") as file:
        file.write(binary)
        file.flush()
        try:
            return ctypes.CDLL(file.name, mode=mode | os.RTLD_NOW)
        except OSError as error:
            raise CannotLoad(f"triton_cpu: cannot load kernel {name}: {error}") from None


def _find_openmp() -> tuple[str, int]:
    """The OpenMP library already in the process (torch's): two pools of threads would compete."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        path = line.partition("/")[1] + line.partition("/")[2]
        if not _OPENMP.search(path):
            continue
        parallel = getattr(ctypes.CDLL(path), "GOMP_parallel", None)
        if parallel is not None:
            return path, ctypes.cast(parallel, ctypes.c_void_p).value or 0
    return "", 0
