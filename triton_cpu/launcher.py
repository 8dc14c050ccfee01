# SPDX-License-Identifier: Apache-2.0
"""Launches one compiled kernel: packs its arguments, runs the grid, calls the hooks."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NoReturn

from triton_cpu.binary.load import python_call, runtime
from triton_cpu.binary.python_call import builtin, layout
from triton_cpu.packing import may_be_elsewhere, packer
from triton_cpu.slots import slots

VARIABLE = "TRITON_CPU_THREADS"
"""How many threads a launch may use; without it, as many as torch uses."""


class KernelFailed(RuntimeError):
    """A program of the kernel failed a device_assert."""


class BadThreadCount(ValueError):
    """TRITON_CPU_THREADS is no positive number."""


def thread_count() -> Callable[[], int]:
    """The function that answers, at each launch, how many threads it may use.

    Raises:
        BadThreadCount: the variable is set to something else than a positive number.
    """
    text = os.environ.get(VARIABLE)
    if text:
        if not text.isdecimal() or int(text) < 1:
            raise BadThreadCount(f"{VARIABLE}={text}: give a positive number of threads")
        count = int(text)
        return lambda: count
    try:
        import torch
    except ImportError:
        return lambda: 1
    threads: Callable[[], int] = torch.get_num_threads
    return threads


def make_launcher(src: Any, metadata: Any) -> Callable[..., None]:
    """What Triton calls to run a kernel: a built-in function where the kernel's arguments allow."""
    slow = Launcher(src, metadata)
    signature = list(src.signature.values())
    description = layout(slots(signature), len(signature), metadata.scratch_bytes)
    library = python_call()
    # Beside an accelerator each tensor's device is looked at, which the quick way does not.
    if description is None or library is None or may_be_elsewhere():
        return slow
    return builtin(library, description, slow, slow.threads, slow.fail)


class Launcher:
    """Runs a kernel, whatever its arguments; the signature is Triton's."""

    def __init__(self, src: Any, metadata: Any) -> None:
        signature = list(src.signature.values())
        self._pack = packer(signature, metadata.slots)
        self._scratch_bytes = metadata.scratch_bytes
        self._launch = runtime().launch
        self.threads = thread_count()
        self._name = metadata.name

    def __call__(
        self,
        grid_x: int,
        grid_y: int,
        grid_z: int,
        stream: Any,
        function: int,
        packed_metadata: Any,
        launch_metadata: Any,
        enter_hook: Callable[[Any], None] | None,
        exit_hook: Callable[[Any], None] | None,
        *arguments: Any,
    ) -> None:
        if enter_hook is not None:
            enter_hook(launch_metadata)
        failed = self._launch(
            function,
            self._pack(*arguments),
            grid_x,
            grid_y,
            grid_z,
            self.threads(),
            self._scratch_bytes,
        )
        if failed:
            self.fail()
        if exit_hook is not None:
            exit_hook(launch_metadata)

    def fail(self) -> NoReturn:
        """Raises KernelFailed with the text of the assertion."""
        raise KernelFailed(f"kernel {self._name}: {runtime().failure()}")
