# SPDX-License-Identifier: Apache-2.0
"""The driver that Triton finds: which device kernels run on, and how one is loaded and launched."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase

from triton_cpu import host
from triton_cpu.activation import is_cpu_the_one

_CACHE_TO_FLUSH = 64 << 20
"""Bytes that do_bench writes between two runs; more than the second-level caches hold."""

_UNLIMITED = 1 << 30
"""For limits that Triton checks and a CPU does not have (shared memory, threads in a block)."""


class DeviceInterface:
    """What of ``torch.cuda`` Triton's autotuner and do_bench use, for work that is synchronous."""

    class Event:
        """A moment on the host's clock."""

        def __init__(self, enable_timing: bool = True) -> None:
            self.seconds = 0.0

        def record(self, stream: Any = None) -> None:
            self.seconds = time.perf_counter()

        def elapsed_time(self, later: DeviceInterface.Event) -> float:
            """Milliseconds from this event to ``later``."""
            return (later.seconds - self.seconds) * 1e3

        def synchronize(self) -> None:
            """A launch has ended when it returns."""

    @staticmethod
    def synchronize(device: Any = None) -> None:
        """A launch has ended when it returns."""

    @staticmethod
    def current_device() -> int:
        return 0

    @staticmethod
    def device_count() -> int:
        return 1

    @staticmethod
    def is_available() -> bool:
        return True


class DriverUtilities:
    """The part of a driver that Triton's CompiledKernel calls."""

    def load_binary(
        self, name: str, binary: bytes, shared: int, device: int
    ) -> tuple[Any, int, int, int, int]:
        """Loads a shared object; (library, address of the kernel, registers, spills, threads)."""
        from triton_cpu.binary.load import load

        library, address = load(name, binary)
        return library, address, 0, 0, _UNLIMITED

    def unload_module(self, library: Any) -> None:
        """Triton 3.9 gives kernels back; they stay, for an address may be in use elsewhere."""

    def get_device_properties(self, device: int) -> dict[str, int]:
        return {
            "max_shared_mem": _UNLIMITED,
            "max_num_regs": _UNLIMITED,
            "multiprocessor_count": len(os.sched_getaffinity(0)),
            "warpSize": 1,
            "sm_clock_rate": 0,
            "mem_clock_rate": 0,
            "mem_bus_width": 0,
        }


class CPUDriver(DriverBase):
    """Runs kernels on the CPU, in the caller's thread and OpenMP's."""

    def __init__(self) -> None:
        from triton_cpu.cache import check_entries_of_cpu_kernels
        from triton_cpu.kernel_code import offer_launchers
        from triton_cpu.launcher import make_launcher

        super().__init__()
        self.utils = DriverUtilities()
        self.launcher_cls = make_launcher
        self._target = GPUTarget("cpu", host.cpu().name, 1)
        check_entries_of_cpu_kernels()
        offer_launchers()

    @classmethod
    def is_active(cls) -> bool:
        return is_cpu_the_one()

    def map_python_to_cpp_type(self, ty: str) -> str:
        from triton_cpu.slots import cpp_type

        return cpp_type(ty)

    def get_current_device(self) -> int:
        return 0

    def set_current_device(self, device: int) -> None:
        """There is one device."""

    def get_current_stream(self, device: int | None = None) -> int:
        return 0

    def get_current_target(self) -> GPUTarget:
        return self._target

    def get_active_torch_device(self) -> Any:
        import torch

        return torch.device("cpu")

    def get_device_interface(self) -> type[DeviceInterface]:
        return DeviceInterface

    def get_benchmarker(self) -> Callable[..., Any]:
        from triton.testing import do_bench

        benchmarker: Callable[..., Any] = do_bench
        return benchmarker

    def get_empty_cache_for_benchmark(self) -> Any:
        import torch

        return torch.empty(_CACHE_TO_FLUSH // 4, dtype=torch.int)

    def clear_cache(self, cache: Any) -> None:
        cache.zero_()
