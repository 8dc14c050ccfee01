# SPDX-License-Identifier: Apache-2.0
"""libdevice calls from kernels, in both float types."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

from tests.unit.triton_cpu.kernels.tensors import assert_near, values


@triton.jit
def libdevice_kernel(x_ptr, out_ptr, N: tl.constexpr):
    index = tl.arange(0, N)
    x = tl.load(x_ptr + index)
    tl.store(out_ptr + index, libdevice.tanh(x))
    tl.store(out_ptr + N + index, libdevice.erf(x))
    tl.store(out_ptr + 2 * N + index, libdevice.expm1(x))
    tl.store(out_ptr + 3 * N + index, libdevice.log1p(libdevice.abs(x)))
    tl.store(out_ptr + 4 * N + index, libdevice.atan(x))
    tl.store(out_ptr + 5 * N + index, libdevice.pow(libdevice.abs(x), x))
    tl.store(out_ptr + 6 * N + index, libdevice.rint(x))
    tl.store(out_ptr + 7 * N + index, libdevice.sinh(x))
    tl.store(out_ptr + 8 * N + index, libdevice.asinh(x))
    tl.store(out_ptr + 9 * N + index, libdevice.rsqrt(libdevice.abs(x)))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_functions(dtype: torch.dtype) -> None:
    x = values(dtype, 512, 1) * 2
    out = torch.empty(10, 512, dtype=dtype)
    libdevice_kernel[(1,)](x, out, 512)
    a = x.double()
    exact = [a.tanh(), a.erf(), a.expm1(), a.abs().log1p(), a.atan(), a.abs() ** a, a.round()]
    exact += [a.sinh(), a.asinh(), a.abs().rsqrt()]
    assert_near(out, torch.stack(exact), terms=7)
