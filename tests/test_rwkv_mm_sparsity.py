# SPDX-License-Identifier: Apache-2.0
"""Accuracy of the product of a sparse vector with a matrix."""

from __future__ import annotations

import pytest
import torch

import flag_gems
from flag_gems.testing import assert_close, options, to_reference
from flag_gems.testing.operands import FLOATING, values

pytestmark = pytest.mark.rwkv_mm_sparsity

SIZES = [(1, 1), (37, 70), (300, 256)]
if not options.quick:
    SIZES += [(2049, 33), (4096, 515)]


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize(("n", "d"), SIZES)
def test_rwkv_mm_sparsity(n, d, dtype):
    k, v = torch.relu(values((n,), dtype)), values((n, d), dtype)
    ref = to_reference(k, upcast=True) @ to_reference(v, upcast=True)
    assert_close(flag_gems.rwkv_mm_sparsity(k, v), ref, dtype, reduce_dim=n)


def test_rwkv_mm_sparsity_of_strided_arguments():
    k = torch.relu(values((120,), torch.float32))[::2]
    v = values((90, 60), torch.float32).t()
    for matrix in (v, values((60, 99), torch.float32)[:, 9:]):
        ref = to_reference(k, upcast=True) @ to_reference(matrix, upcast=True)
        res = flag_gems.rwkv_mm_sparsity(k, matrix)
        assert_close(res, ref, torch.float32, reduce_dim=60)


def test_rows_under_a_zero_are_not_read_and_nan_counts():
    k = torch.zeros(50, device=flag_gems.device)
    v = values((50, 9), torch.float32)
    k[7], k[30] = 2.0, -1.0
    v[8] = float("nan")
    assert_close(flag_gems.rwkv_mm_sparsity(k, v), 2 * v[7].double() - v[30].double(), v.dtype)
    k[9] = float("nan")
    assert flag_gems.rwkv_mm_sparsity(k, v).isnan().all()


@pytest.mark.parametrize("shape", [(0, 4), (4, 0)])
def test_rwkv_mm_sparsity_of_nothing_is_zero(shape):
    k, v = values(shape[:1], torch.float32), values(shape, torch.float32)
    assert flag_gems.rwkv_mm_sparsity(k, v).tolist() == [0.0] * shape[1]


def test_rwkv_mm_sparsity_refuses_what_does_not_fit():
    k, v = values((4,), torch.float32), values((4, 3), torch.float32)
    with pytest.raises(ValueError, match=r"must be \[n\]"):
        flag_gems.rwkv_mm_sparsity(k[:3], v)
    with pytest.raises(ValueError, match="share a floating"):
        flag_gems.rwkv_mm_sparsity(k.half(), v)
    with pytest.raises(RuntimeError, match="not differentiable"):
        flag_gems.rwkv_mm_sparsity(k.requires_grad_(), v)
    flag_gems.rwkv_mm_sparsity(k.detach(), v)
