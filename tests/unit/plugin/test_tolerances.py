# SPDX-License-Identifier: Apache-2.0
"""assert_close accepts rounding, and nothing that is more than that."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import flag_gems  # noqa: F401  (prepares Triton before anything can import it)
from flag_gems.testing import assert_close, assert_equal, options, to_reference, tolerance

FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]


@pytest.mark.parametrize("dtype", FLOATS)
@settings(max_examples=30, deadline=None)
@given(value=st.floats(-1e4, 1e4))
def test_a_correctly_rounded_result_passes(dtype, value):
    ref = torch.tensor([value], dtype=torch.float64)
    assert_close(ref.to(dtype), ref, dtype)


@pytest.mark.parametrize("dtype", FLOATS)
def test_an_error_of_four_tolerances_fails(dtype):
    rtol, atol = tolerance(dtype)
    ref = torch.linspace(1, 100, 50, dtype=torch.float64)
    wrong = ref.clone()
    wrong[17] += 4 * (atol + rtol * wrong[17])
    with pytest.raises(AssertionError, match="1 / 50"):
        assert_close(wrong.to(dtype), ref, dtype)


def test_a_sum_in_float32_passes_and_one_in_float16_does_not():
    generator = torch.Generator().manual_seed(1)
    terms = torch.randn(4096, 64, generator=generator, dtype=torch.float64).half()
    ref = terms.double().sum(0)
    assert_close(terms.float().sum(0), ref, torch.float32, reduce_dim=4096)
    total = torch.zeros(64, dtype=torch.float16)
    for row in terms:
        total += row
    with pytest.raises(AssertionError, match="not close"):
        assert_close(total, ref, torch.float16, reduce_dim=4096)


@given(length=st.integers(1, 1 << 20))
def test_absolute_tolerance_grows_with_the_root_of_the_length(length):
    rtol, atol = tolerance(torch.float32, length)
    assert rtol == tolerance(torch.float32)[0]
    assert atol == pytest.approx(1e-4 * math.sqrt(length))


def test_integers_are_exact_whatever_the_length():
    assert tolerance(torch.int64, 1 << 20) == (0.0, 0.0)
    big = torch.tensor([2**62 + 1])
    with pytest.raises(AssertionError):
        assert_close(big, torch.tensor([2**62]), torch.int64)
    assert_equal(big, big.clone())


def test_dtype_shape_nan_and_infinity():
    one = torch.ones(3)
    with pytest.raises(AssertionError, match=r"dtype torch.float32, expected torch.float16"):
        assert_close(one, one.double(), torch.float16)
    with pytest.raises(AssertionError, match="shape"):
        assert_close(one, torch.ones(1, 3), torch.float32)
    with pytest.raises(AssertionError, match="dtype"):
        assert_equal(one, one.double())
    nan = torch.tensor([float("nan"), 1.0])
    with pytest.raises(AssertionError):
        assert_close(nan, nan.double(), torch.float32)
    assert_close(nan, nan.double(), torch.float32, equal_nan=True)
    assert_equal(nan, nan.clone(), equal_nan=True)
    # Beyond the range of float16 the right answer is infinity.
    assert_close(torch.tensor([math.inf]).half(), torch.tensor([1e6]).double(), torch.float16)


def test_unknown_dtype_and_length_are_refused():
    with pytest.raises(ValueError, match="no tolerance is defined"):
        tolerance(torch.qint8)
    with pytest.raises(ValueError, match="reduce_dim must be at least 1"):
        tolerance(torch.float32, 0)


@pytest.mark.parametrize("where", ["device", "cpu"])
def test_reference_copies_are_apart_and_wide(where, monkeypatch):
    monkeypatch.setattr(options, "reference", where)
    x = torch.ones(2, 3, dtype=torch.float16, requires_grad=True)
    ref = to_reference(x, upcast=True)
    assert (ref.dtype, ref.requires_grad, ref.is_leaf) == (torch.float64, True, True)
    plain = torch.ones(4)
    copy = to_reference(plain)
    plain.mul_(7)
    assert (copy == 1).all()
    assert to_reference(torch.ones(2, dtype=torch.int32), upcast=True).dtype == torch.int32
    assert to_reference(torch.ones(2, dtype=torch.complex64), True).dtype == torch.complex128
    assert to_reference(None) is None
