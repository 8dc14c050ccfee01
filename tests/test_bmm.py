# SPDX-License-Identifier: Apache-2.0
"""Accuracy of bmm, called directly and through torch."""

from __future__ import annotations

import pytest
import torch

import flag_gems
from flag_gems.testing import assert_close, options, to_reference
from flag_gems.testing.operands import FLOATING, values

pytestmark = pytest.mark.bmm

SHAPES = [(1, 1, 1, 1), (3, 17, 33, 65)]
if not options.quick:
    SHAPES += [(2, 64, 32, 16), (5, 1, 300, 5), (4, 130, 7, 70)]


def _check(a, b):
    ref = to_reference(a, upcast=True) @ to_reference(b, upcast=True)
    assert_close(flag_gems.bmm(a, b), ref, a.dtype, reduce_dim=max(a.shape[2], 1))


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize(("batches", "m", "k", "n"), SHAPES)
def test_bmm(batches, m, k, n, dtype):
    _check(values((batches, m, k), dtype), values((batches, k, n), dtype))


def test_bmm_of_strided_factors():
    a, b = values((6, 40, 33), torch.float32), values((7, 3, 40), torch.float32)
    _check(a[::2].mT, b.permute(1, 2, 0))
    # A factor that is one matrix for the whole batch.
    _check(values((1, 9, 12), torch.float32).expand(4, -1, -1), values((4, 12, 5), torch.float32))


@pytest.mark.parametrize("shape", [(0, 2, 3, 4), (2, 0, 3, 4), (2, 3, 0, 4), (2, 3, 4, 0)])
def test_bmm_without_elements(shape):
    batches, m, k, n = shape
    _check(values((batches, m, k), torch.float32), values((batches, k, n), torch.float32))


def test_bmm_into():
    a, b = values((3, 9, 20), torch.float32), values((3, 20, 7), torch.float32)
    ref = to_reference(a, True) @ to_reference(b, True)
    out = values((3, 7, 9), torch.float32).mT
    assert flag_gems.bmm_out(a, b, out=out) is out
    assert_close(out, ref, a.dtype, reduce_dim=20)
    with pytest.warns(UserWarning, match="resized"):
        flag_gems.bmm_out(a, b, out=(other := values((2,), torch.float32)))
    assert_close(other, ref, a.dtype, reduce_dim=20)


def test_bmm_through_torch():
    a, b = values((3, 9, 20), torch.float32), values((3, 20, 7), torch.float32)
    with flag_gems.use_gems(include=["bmm"]) as gems:
        res = torch.matmul(a, b)
    assert gems.calls["bmm"] == 1
    assert_close(res, to_reference(a, True) @ to_reference(b, True), a.dtype, reduce_dim=20)


def test_gradients_of_bmm():
    a, b = (values(shape, torch.float32).requires_grad_() for shape in ((2, 4, 5), (2, 5, 3)))
    wide = [to_reference(tensor, True) for tensor in (a, b)]
    (wide[0] @ wide[1]).square().sum().backward()
    flag_gems.bmm(a, b).square().sum().backward()
    for own, ref in zip((a, b), wide, strict=True):
        assert_close(own.grad, ref.grad, torch.float32, reduce_dim=60)


@pytest.mark.parametrize(
    ("first", "second"), [((2, 3, 4), (2, 5, 6)), ((2, 3, 4), (3, 4, 5)), ((3, 4), (4, 5))]
)
def test_shapes_that_do_not_fit(first, second):
    a, b = values(first, torch.float32), values(second, torch.float32)
    with pytest.raises(RuntimeError) as expected:
        torch.bmm(a, b)
    with pytest.raises(RuntimeError) as raised:
        flag_gems.bmm(a, b)
    assert str(raised.value) == str(expected.value)
