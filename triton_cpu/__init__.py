# SPDX-License-Identifier: Apache-2.0
"""A native CPU back end for the stock Triton wheel.

Installed, it is found by Triton through the entry point ``cpu`` of the group ``triton.backends``,
and ``@triton.jit`` kernels run on CPU tensors, compiled with LLVM (docs/triton_cpu.md).
"""
