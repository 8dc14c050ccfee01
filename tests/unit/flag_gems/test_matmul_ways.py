# SPDX-License-Identifier: Apache-2.0
"""Every way to compute a product gives the product: pointers, parts, descriptors."""

from __future__ import annotations

import pytest
import torch

import flag_gems
from flag_gems.ops import matmul_launch
from flag_gems.ops.matmul_plan import Tiling
from flag_gems.runtime import interpreted
from flag_gems.testing import assert_close, to_reference
from flag_gems.testing.operands import values

WAYS = {
    "pointers": Tiling(32, 32, 32),
    "parts": Tiling(16, 32, 32, splits=3),
    "more parts than blocks": Tiling(32, 32, 64, splits=8),
    "descriptors": Tiling(32, 32, 32, descriptor=True),
    "halves": Tiling(32, 64, 32, descriptor=True, halves=True, flatten=True),
}
BATCHES = {"descriptors": (64, 96, 128), "halves": (64, 128, 64)}


def _factor(shape, transposed, dtype):
    if transposed:
        return values((*shape[:-2], shape[-1], shape[-2]), dtype).mT
    return values(shape, dtype)


def _check(way, batch, m, n, k, dtype=torch.float16, layout=(False, False), **scales):
    if interpreted and WAYS[way].descriptor:
        pytest.skip("the interpreter's descriptors take no strides")
    a = _factor((*batch, m, k), layout[0], dtype)
    b = _factor((*batch, k, n), layout[1], dtype)
    out = torch.empty((*batch, m, n), dtype=dtype, device=flag_gems.device)
    bias = values((n,), dtype) if scales else None
    matmul_launch.launch(a, b, out, bias, chosen=WAYS[way], **scales)
    ref = to_reference(a, True) @ to_reference(b, True)
    if scales:
        ref = scales["alpha"] * ref + scales["beta"] * to_reference(bias, True)
    assert_close(out, ref, dtype, reduce_dim=k)


@pytest.mark.parametrize("layout", [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize("way", WAYS)
def test_one_product(way, layout):
    _check(way, (), 72, 104, 200, layout=layout)


@pytest.mark.parametrize("way", WAYS)
def test_a_batch(way):
    m, n, k = BATCHES.get(way, (50, 70, 130))
    _check(way, (3,), m, n, k)


@pytest.mark.parametrize("way", WAYS)
def test_scaled_and_added(way):
    _check(way, (), 40, 72, 136, alpha=0.5, beta=-2.0)


def test_float64_in_parts():
    if not flag_gems.runtime.device.support_fp64:
        pytest.skip("the device has no float64")
    a, b = values((20, 300), torch.float64), values((300, 30), torch.float64)
    out = torch.empty((20, 30), dtype=torch.float64, device=flag_gems.device)
    matmul_launch.launch(a, b, out, alpha=1 / 3, chosen=Tiling(16, 16, 32, splits=4))
    torch.testing.assert_close(out, a @ b / 3, rtol=1e-13, atol=1e-13)
