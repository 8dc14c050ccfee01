# SPDX-License-Identifier: Apache-2.0
"""Accuracy of div, floor_divide and remainder, called directly and through torch."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import flag_gems
from flag_gems.testing import assert_close, assert_equal, options, samples, to_reference
from flag_gems.testing.drawing import drawn
from flag_gems.testing.operands import FLOATING, INTEGRAL, values

SHAPES = [(7, 33)] if options.quick else [(7, 33), (1,), (), (0, 3), (20_011,)]
MODES = [None, "floor", "trunc"]


@pytest.mark.div
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("shape", SHAPES)
def test_div(shape, dtype, mode):
    x, y = values(shape, dtype), values((*shape, 2), dtype)[..., 1]
    ref = torch.div(to_reference(x, upcast=True), to_reference(y, upcast=True), rounding_mode=mode)
    assert_close(flag_gems.div(x, y, rounding_mode=mode), ref, dtype, equal_nan=True)


def _nonzero(tensor):
    return torch.where(tensor == 0, 3, tensor)


@pytest.mark.div
@pytest.mark.floor_divide
@pytest.mark.remainder
@pytest.mark.parametrize("left", INTEGRAL)
@pytest.mark.parametrize("right", [torch.int8, torch.int32, torch.uint8])
def test_whole_results_of_integers(left, right):
    x, y = values((5, 17), left), _nonzero(values((17,), right)).to(right)
    for mode in MODES[1:]:
        ref = torch.div(to_reference(x), to_reference(y), rounding_mode=mode)
        assert_equal(flag_gems.div(x, y, rounding_mode=mode), ref)
    assert_equal(flag_gems.floor_divide(x, y), to_reference(x) // to_reference(y))
    assert_equal(flag_gems.remainder(x, y), to_reference(x) % to_reference(y))


@pytest.mark.div
def test_true_division_of_integers_gives_the_default_dtype():
    x, y = values((5, 17), torch.int32), _nonzero(values((17,), torch.uint8))
    ref = to_reference(x).double() / to_reference(y).double()
    assert_close(flag_gems.div(x, y), ref, torch.float32)
    assert_close(flag_gems.true_divide(x, 7), to_reference(x).double() / 7, torch.float32)


@drawn
@given(x=st.integers(-(2**63), 2**63 - 1), y=st.integers(-(2**63), 2**63 - 1).filter(bool))
@pytest.mark.floor_divide
@pytest.mark.remainder
def test_integer_extremes(x, y):
    left = torch.tensor([x, -(2**63), 2**63 - 1], device=flag_gems.device)
    right = torch.tensor([y, y, y], device=flag_gems.device)
    wrapped = [(n // y + 2**63) % 2**64 - 2**63 for n in left.tolist()]
    assert flag_gems.floor_divide(left, right).tolist() == wrapped
    assert flag_gems.remainder(left, right).tolist() == [n % y for n in left.tolist()]


@pytest.mark.floor_divide
@pytest.mark.remainder
@pytest.mark.parametrize("dtype", [torch.int8, torch.int32, torch.int64])
def test_the_smallest_integer_by_minus_one_wraps(dtype):
    least = torch.full((3,), torch.iinfo(dtype).min, dtype=dtype, device=flag_gems.device)
    assert_equal(flag_gems.floor_divide(least, -1), least)
    assert flag_gems.remainder(least, -1).tolist() == [0, 0, 0]


SPECIAL = [0.0, -0.0, 1.0, -1.5, 7.25, 1e-3, 1e30, float("inf"), -float("inf"), float("nan")]


@pytest.mark.div
@pytest.mark.remainder
@pytest.mark.floor_divide
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_special_values(dtype):
    line = torch.tensor(SPECIAL, dtype=dtype, device=flag_gems.device)
    x, y = line[:, None], line[None, :]
    for mode in MODES:
        res, ref = flag_gems.div(x, y, rounding_mode=mode), torch.div(x, y, rounding_mode=mode)
        assert_equal(res, ref, equal_nan=True)
        if mode != "trunc":
            assert_equal(torch.signbit(res)[ref == 0], torch.signbit(ref)[ref == 0])
    assert_equal(flag_gems.remainder(x, y), torch.remainder(x, y), equal_nan=True)


@pytest.mark.div
@pytest.mark.remainder
def test_numbers_on_either_side():
    x = values((9,), torch.float32)
    wide = to_reference(x, upcast=True)
    assert_close(flag_gems.div(2.5, x), 2.5 / wide, x.dtype)
    assert_close(flag_gems.div(x, 3), wide / 3, x.dtype)
    assert_close(flag_gems.remainder(7, x), torch.remainder(7, wide), x.dtype)
    assert_close(flag_gems.remainder(x, 0.75), torch.remainder(wide, 0.75), x.dtype)


@pytest.mark.div
@pytest.mark.remainder
@pytest.mark.floor_divide
@pytest.mark.skipif(flag_gems.device != "cpu", reason="only on the CPU does torch look for zeros")
def test_integer_division_by_zero_is_torchs_error():
    x, zero = values((4,), torch.int32), values((4,), torch.int32) * 0
    for call in (
        lambda: flag_gems.div(x, zero, rounding_mode="trunc"),
        lambda: flag_gems.floor_divide(x, 0),
        lambda: flag_gems.remainder(x, zero),
        lambda: flag_gems.remainder_(x, 0),
    ):
        with pytest.raises(RuntimeError, match="ZeroDivisionError"):
            call()


@pytest.mark.div
@pytest.mark.parametrize("mode", ["up", ""])
def test_an_unknown_rounding_is_torchs_error(mode):
    with pytest.raises(RuntimeError, match="rounding_mode"):
        flag_gems.div_mode(values((4,), torch.float32), 2, rounding_mode=mode)


@pytest.mark.div
@pytest.mark.floor_divide
@pytest.mark.remainder
def test_in_place_and_out():
    x, y = values((6, 5), torch.float32), values((5,), torch.float32)
    wide, other = to_reference(x, upcast=True), to_reference(y, upcast=True)
    out = torch.empty(6, 5, device=flag_gems.device).t()
    with pytest.warns(UserWarning, match="was resized"):
        assert flag_gems.div_out(x, y, out=out) is out
    assert_close(out, wide / other, x.dtype)
    assert_close(
        flag_gems.div_mode_out(x, y, rounding_mode="floor", out=out), wide // other, x.dtype
    )
    assert_close(flag_gems.floor_divide_out(x, y, out=out), wide // other, x.dtype)
    assert_close(flag_gems.remainder_out(x, y, out=out), wide % other, x.dtype)
    for function, ref in (
        (flag_gems.div_, wide / other),
        (flag_gems.true_divide_, wide / other),
        (lambda a, b: flag_gems.div_mode_(a, b, rounding_mode="floor"), wide // other),
        (flag_gems.floor_divide_, wide // other),
        (flag_gems.remainder_, wide % other),
    ):
        target = x.clone()
        assert function(target, y) is target
        assert_close(target, ref, x.dtype)


@pytest.mark.div
@pytest.mark.falls_through(reason="complex numbers are torch's")
def test_complex_goes_to_torch():
    z = torch.complex(values((4,), torch.float32), values((4,), torch.float32))
    torch.testing.assert_close(flag_gems.div(z, 2), z / 2)


@pytest.mark.div
@pytest.mark.parametrize("variant", ["no_rounding_mode", "floor_rounding", "trunc_rounding"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_div_on_torchs_samples(variant, dtype):
    samples.check("div", dtype, ["div"], variant)


@pytest.mark.floor_divide
@pytest.mark.remainder
@pytest.mark.parametrize("dtype", [torch.float32, torch.int32])
@pytest.mark.parametrize("name", ["floor_divide", "remainder"])
def test_whole_results_on_torchs_samples(name, dtype):
    samples.check(name, dtype, [name])
