# SPDX-License-Identifier: Apache-2.0
"""A native CPU back end for the stock Triton wheel.

Installed, it is found by Triton through the entry point ``cpu`` of the group ``triton.backends``,
and ``@triton.jit`` kernels run on CPU tensors, compiled with LLVM (docs/triton_cpu.md).

Beside a GPU it stays out of the way until it is asked for::

    import triton_cpu
    triton_cpu.enable()     # or TRITON_CPU=1 in the environment
"""

from __future__ import annotations

from triton_cpu.activation import disable, enable, is_enabled
from triton_cpu.packing import admit

__all__ = ["admit", "disable", "enable", "is_enabled"]
