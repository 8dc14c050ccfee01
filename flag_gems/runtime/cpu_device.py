# SPDX-License-Identifier: Apache-2.0
"""The face of ``torch.cuda`` for the CPU, so that code for a device needs no branch for it."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch


class CpuDevice:
    """What library, tests and benchmarks call on ``torch_device_fn``, for one CPU device.

    Work on the CPU is done when the call returns, hence ``synchronize`` has nothing to wait for.
    """

    @staticmethod
    def is_available() -> bool:
        return True

    @staticmethod
    def device_count() -> int:
        return 1

    @staticmethod
    def current_device() -> int:
        return 0

    @staticmethod
    def set_device(device: Any) -> None:
        del device

    @staticmethod
    def get_device_name(device: Any = None) -> str:
        del device
        return torch.backends.cpu.get_cpu_capability()

    @staticmethod
    def synchronize(device: Any = None) -> None:
        del device

    @staticmethod
    def empty_cache() -> None:
        return None

    @staticmethod
    def device(device: Any) -> AbstractContextManager[None]:
        del device
        return nullcontext()

    @staticmethod
    def manual_seed(seed: int) -> None:
        torch.default_generator.manual_seed(seed)

    manual_seed_all = manual_seed
