# SPDX-License-Identifier: Apache-2.0
"""float64 stays float64 all the way, scalars included, although Triton passes floats as float32."""

from __future__ import annotations

import pytest
import torch

import flag_gems

pytestmark = pytest.mark.requires_capabilities("dtype.fp64")

# A chain of some hundred roundings of 2**-53 each; a single float32 on the way would leave 6e-8.
CLOSE = {"rtol": 1e-13, "atol": 1e-13}


def _made(*shape: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(3)
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(flag_gems.device)


def test_scalars():
    x = _made(9)
    torch.testing.assert_close(flag_gems.add(x, 0.1), x + 0.1, **CLOSE)
    torch.testing.assert_close(flag_gems.add(x, x, alpha=1e300), torch.add(x, x, alpha=1e300))
    torch.testing.assert_close(flag_gems.mul(x, -1 / 3), x * (-1 / 3), **CLOSE)


def test_large_integers():
    x = torch.tensor([2**62, -(2**62), 1], device=flag_gems.device)
    assert flag_gems.add(x, 2**53 + 1).tolist() == (x + (2**53 + 1)).tolist()
    assert flag_gems.mul(x, 3).tolist() == (x * 3).tolist()


def test_reductions_and_products():
    x, y = _made(7, 30), _made(30, 5)
    torch.testing.assert_close(flag_gems.softmax(x, 0), torch.softmax(x, 0), **CLOSE)
    torch.testing.assert_close(flag_gems.sum(x, 1), x.sum(1), **CLOSE)
    torch.testing.assert_close(flag_gems.mm(x, y), x @ y, **CLOSE)
    bias = _made(5)
    res = flag_gems.addmm(bias, x, y, beta=0.1, alpha=1 / 3)
    torch.testing.assert_close(res, torch.addmm(bias, x, y, beta=0.1, alpha=1 / 3), **CLOSE)
    ref = torch.nn.functional.rms_norm(x, (30,), None, 1e-5)
    torch.testing.assert_close(flag_gems.rms_norm(x, 30), ref, **CLOSE)


def test_argmax_tells_neighbours_of_float64_apart():
    x = torch.tensor([1.0, 1.0 + 2**-52], dtype=torch.float64, device=flag_gems.device)
    assert flag_gems.argmax(x).item() == 1
