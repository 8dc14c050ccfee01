# SPDX-License-Identifier: Apache-2.0
"""Accuracy of copies: into a tensor, to another dtype, to another memory order."""

from __future__ import annotations

import itertools

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import flag_gems
from flag_gems.ops.copy import _can_use_triton
from flag_gems.testing import assert_equal, samples, to_reference
from flag_gems.testing.drawing import drawn, shapes
from flag_gems.testing.operands import values

DTYPES = [
    *(torch.float16, torch.bfloat16, torch.float32, torch.float64),
    *(torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.bool),
]


@pytest.mark.copy_
@pytest.mark.to_copy
@pytest.mark.parametrize(("source", "target"), list(itertools.product(DTYPES, DTYPES)))
def test_conversion(source, target):
    x = values((7, 33), source)
    if target is torch.uint8 and source is not torch.bool:
        # What a negative floating number becomes is not defined.
        x = x.abs()
    ref = to_reference(x).to(target)
    assert_equal(flag_gems.to_copy(x, dtype=target), ref)
    out = torch.empty((2, 7, 33), dtype=target, device=x.device)
    assert flag_gems.copy_(out, x) is out
    assert_equal(out[1], ref)


@pytest.mark.to_copy
def test_halves_are_rounded_from_single_precision():
    x = torch.tensor([1 + 2**-11 + 2**-40, 65519.999999], device=flag_gems.device).double()
    x[0] = 1 + 2**-11 + 2**-40
    assert_equal(flag_gems.to_copy(x, dtype=torch.float16), to_reference(x).to(torch.float16))


@pytest.mark.copy_
@pytest.mark.contiguous
@drawn
@given(shape=shapes, data=st.data())
def test_strides(shape, data):
    order = data.draw(st.permutations(range(len(shape))))
    other = data.draw(st.permutations(range(len(shape))))
    x = values(shape, torch.float32).permute(order)
    out = torch.empty([x.shape[dim] for dim in other], device=x.device)
    out = out.permute([other.index(dim) for dim in range(len(shape))])
    ref = to_reference(x)
    assert_equal(flag_gems.copy_(out, x), ref)
    made = flag_gems.contiguous(x)
    assert made.is_contiguous()
    assert_equal(made, ref)
    assert flag_gems.clone(x).stride() == torch.clone(x).stride()


@pytest.mark.contiguous
@pytest.mark.copy_
@pytest.mark.parametrize("dims", [2, 5, 6, 7])
def test_many_dimensions(dims):
    x = values((3,) * dims, torch.float32)
    step = x.permute(*range(dims - 1, -1, -1))[:, ::2]
    assert_equal(flag_gems.contiguous(step), to_reference(step))
    target = torch.zeros_like(x).permute(*range(dims - 1, -1, -1))[:, ::2]
    assert_equal(flag_gems.copy_(target, step), to_reference(step))


@pytest.mark.contiguous
def test_large_transposed():
    x = values((300, 517), torch.bfloat16).t()
    assert_equal(flag_gems.contiguous(x), to_reference(x).contiguous())


@pytest.mark.contiguous
@pytest.mark.copy_
@pytest.mark.parametrize(
    "dtype",
    [torch.complex64, torch.complex128, torch.uint16, torch.uint32, torch.float8_e4m3fn],
)
def test_dtypes_without_arithmetic_are_copied_as_bits(dtype):
    x = values((6, 10), torch.float64).to(torch.float32).to(dtype).t()
    assert torch.equal(flag_gems.contiguous(x).view(torch.uint8), x.contiguous().view(torch.uint8))
    out = torch.zeros(10, 6, dtype=dtype, device=x.device)
    flag_gems.copy_(out, x)
    assert torch.equal(out.view(torch.uint8), x.contiguous().view(torch.uint8))


@pytest.mark.contiguous
@pytest.mark.to_copy
def test_memory_formats():
    x = values((2, 3, 4, 5), torch.float32)
    last = flag_gems.contiguous(x, torch.channels_last)
    assert last.stride() == x.contiguous(memory_format=torch.channels_last).stride()
    assert flag_gems.contiguous(x) is x
    kept = flag_gems.to_copy(last, dtype=torch.float64)
    assert kept.stride() == last.stride()
    assert_equal(kept, x.double())


@pytest.mark.copy_
def test_what_torch_refuses_is_its_error():
    x = values((4,), torch.float32)
    for call in (
        lambda: flag_gems.copy_(x[:1].expand(4), x),
        lambda: flag_gems.copy_(x, values((3,), torch.float32)),
        lambda: flag_gems.copy_(x[:3], x[1:]),
    ):
        with pytest.raises(RuntimeError):
            call()
    assert _can_use_triton(x, x)
    assert not _can_use_triton(x[:3], x[1:])


@pytest.mark.copy_
@pytest.mark.falls_through(reason="a conversion from complex numbers is torch's")
def test_complex_to_real_goes_to_torch():
    x, out = values((4,), torch.float32), torch.zeros(4, dtype=torch.complex64)
    assert_equal(flag_gems.copy_(out.to(x.device), x).real, x)


@pytest.mark.copy_
@pytest.mark.to_copy
@pytest.mark.contiguous
def test_through_torch():
    x = values((6, 5), torch.float32)
    with flag_gems.use_gems() as gems:
        half = x.t().half()
        made = x.t().contiguous()
        x[0].copy_(x[1])
        x[2] = 4
    assert {"_to_copy", "clone", "copy_"} <= set(gems.calls)
    assert_equal(half.t()[1], to_reference(x)[1].half())
    assert_equal(made[:, 1], to_reference(x)[0])
    assert_equal(x[0], x[1])


@pytest.mark.contiguous
def test_clone_on_torchs_samples():
    samples.check("clone", torch.float32, ["contiguous"], references=True)
