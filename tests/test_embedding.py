# SPDX-License-Identifier: Apache-2.0
"""Accuracy of embedding and its backward."""

from __future__ import annotations

import pytest
import torch

import flag_gems
from flag_gems.testing import assert_close, assert_equal, to_reference
from flag_gems.testing.operands import FLOATING, values

pytestmark = pytest.mark.embedding


def _indices(shape, rows, dtype=torch.int64):
    generator = torch.Generator().manual_seed(3)
    made = torch.randint(0, rows, shape, generator=generator)
    return made.to(dtype).to(flag_gems.device)


@pytest.mark.parametrize("dtype", [*FLOATING, torch.float64])
@pytest.mark.parametrize("index", [torch.int32, torch.int64])
@pytest.mark.parametrize("columns", [1, 33, 3000])
def test_embedding(dtype, index, columns):
    weight = values((20, columns), dtype)
    for shape in ((7,), (2, 3), (), (0, 4)):
        indices = _indices(shape, 20, index)
        assert_equal(flag_gems.embedding(weight, indices), weight[indices.long()])


def test_strided_table_and_indices():
    weight, indices = values((33, 20), torch.float32).t(), _indices((4, 6), 20).t()[::2]
    assert_equal(flag_gems.embedding(weight, indices), weight[indices])
    assert_equal(flag_gems.embedding(weight.t().t()[:, ::3], indices), weight[:, ::3][indices])


@pytest.mark.parametrize("dtype", [*FLOATING, torch.float64])
@pytest.mark.parametrize("padding", [-1, 2])
@pytest.mark.parametrize("scaled", [False, True])
def test_gradient(dtype, padding, scaled):
    indices, grad = _indices((6, 9), 20), values((6, 9, 33), dtype)
    wide = torch.ops.aten.embedding_dense_backward(
        to_reference(grad, upcast=True), indices, 20, padding, scaled
    )
    res = flag_gems.embedding_dense_backward(grad, indices, 20, padding, scaled)
    assert_close(res, wide, dtype, reduce_dim=8)


def test_through_torch_with_a_gradient():
    weight = values((20, 8), torch.float32).requires_grad_()
    indices = _indices((5,), 20)
    with flag_gems.use_gems(include=["embedding"]) as gems:
        torch.nn.functional.embedding(indices, weight, padding_idx=3).square().sum().backward()
    assert gems.calls == {"embedding": 1, "embedding_dense_backward": 1}
    wide = weight.detach().double().requires_grad_()
    torch.nn.functional.embedding(indices, wide, padding_idx=3).square().sum().backward()
    assert_close(weight.grad, wide.grad, torch.float32)


@pytest.mark.parametrize(
    "call",
    [
        lambda w, i: flag_gems.embedding(w[0], i),
        lambda w, i: flag_gems.embedding(w, i.float()),
        pytest.param(
            lambda w, i: flag_gems.embedding(w, i + 30),
            marks=pytest.mark.skipif(flag_gems.device != "cpu", reason="stops a GPU"),
        ),
    ],
)
def test_what_torch_refuses_is_its_error(call):
    with pytest.raises((RuntimeError, IndexError)):
        call(values((20, 8), torch.float32), _indices((5,), 20))
