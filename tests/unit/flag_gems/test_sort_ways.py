# SPDX-License-Identifier: Apache-2.0
"""sort, topk and nonzero as a GPU runs them, tile by tile, on whatever device is here."""

from __future__ import annotations

import sys

import pytest
import torch

import flag_gems
from flag_gems.testing import assert_equal, to_reference
from flag_gems.testing.operands import values


@pytest.fixture(autouse=True)
def tiles(monkeypatch):
    for name in ("sort", "topk", "nonzero"):
        monkeypatch.setattr(sys.modules[f"flag_gems.ops.{name}"], "SERIAL", False)
    topk = sys.modules["flag_gems.ops.topk"]
    monkeypatch.setattr(topk, "_SELECT", topk._select)


@pytest.mark.parametrize(
    ("n", "dtype"),
    [(77, torch.float32), (77, torch.bool), (5003, torch.float16), (77, torch.float64)],
    ids=["network of 32 bits", "network of bytes", "digits of 16 bits", "digits of 64 bits"],
)
def test_sort(n, dtype):
    x = values((3, n), dtype)
    for descending in (False, True):
        result = flag_gems.sort(x, descending=descending)
        reference = torch.sort(to_reference(x), stable=True, descending=descending)
        assert_equal(result.values, reference.values)
        assert_equal(result.indices, reference.indices)


@pytest.mark.parametrize(("n", "dtype"), [(77, torch.float32), (9001, torch.int16)])
def test_topk(n, dtype):
    x = values((3, n), dtype)
    for k in (1, 40):
        result = flag_gems.topk(x, k)
        reference = torch.sort(to_reference(x), stable=True, descending=True)
        assert_equal(result.values, reference.values[:, :k])
        assert_equal(result.indices, reference.indices[:, :k])
        found = flag_gems.topk(x, k, sorted=False)
        assert_equal(x.gather(1, found.indices), found.values)
        assert_equal(found.indices.sort().values, reference.indices[:, :k].sort().values)


@pytest.mark.parametrize("shape", [(50_021,), (7, 33, 130), (2, 3, 1, 2, 3, 2)])
def test_nonzero(shape):
    x = values(shape, torch.float32).clamp(min=0)
    assert_equal(flag_gems.nonzero(x), torch.nonzero(to_reference(x)))
    size = x.numel() // 3
    wanted = torch.nonzero_static(to_reference(x), size=size)
    assert_equal(flag_gems.nonzero_static(x, size=size), wanted)
