# SPDX-License-Identifier: Apache-2.0
"""Arguments go into slots by the documented rule, whatever the path through the packer."""

from __future__ import annotations

import struct
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from triton_cpu.packing import BadArgument, packer
from triton_cpu.slots import Slot, UnknownArgument, cpp_type, slots

INTEGERS = [f"{sign}{bits}" for sign in "iu" for bits in (8, 16, 32, 64)]


def pack(kind: str, value: object) -> bytes:
    return packer([kind], [])(value)


@given(kind=st.sampled_from(INTEGERS), data=st.data())
def test_an_integer_is_widened_by_its_own_sign(kind: str, data: st.DataObject) -> None:
    bits, signed = int(kind[1:]), kind[0] == "i"
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    value = data.draw(st.integers(low, high))
    assert pack(kind, value) == value.to_bytes(8, "little", signed=signed)


@given(st.floats(width=64))
def test_an_f32_is_rounded_as_numpy_rounds_it(value: float) -> None:
    with np.errstate(over="ignore"):
        expected = np.float32(value).tobytes()
    got = pack("fp32", value)
    assert got[4:] == bytes(4)
    assert got[:4] == expected or np.isnan(np.frombuffer(got[:4], np.float32)[0])


@given(st.floats(width=64))
def test_an_f16_is_rounded_as_numpy_rounds_it(value: float) -> None:
    with np.errstate(over="ignore"):
        expected = np.float16(value).tobytes()
    got = pack("fp16", value)
    assert got[2:] == bytes(6)
    assert got[:2] == expected or np.isnan(np.frombuffer(got[:2], np.float16)[0])


@given(st.floats(width=32))
def test_a_bf16_is_rounded_as_torch_rounds_it(value: float) -> None:
    expected = torch.tensor(value, dtype=torch.float32).to(torch.bfloat16)
    (bits,) = struct.unpack("<Q", pack("bf16", value))
    if torch.isnan(expected):
        assert bits & 0x7F80 == 0x7F80
        assert bits & 0x7F
    else:
        assert bits == expected.view(torch.int16).item() & 0xFFFF


@given(st.floats(allow_nan=False))
def test_an_f64_stays_as_it_is(value: float) -> None:
    assert pack("fp64", value) == struct.pack("<d", value)


def test_booleans_and_numpy_numbers_are_numbers() -> None:
    assert pack("i1", True) == (1).to_bytes(8, "little")
    assert pack("i32", np.int32(-7)) == (-7).to_bytes(8, "little", signed=True)
    assert pack("fp32", np.float64(0.5)) == struct.pack("<f4x", 0.5)


def test_a_pointer_is_a_tensor_an_address_an_array_or_none() -> None:
    tensor = torch.zeros(4)
    array = np.zeros(4)
    assert pack("*fp32", tensor) == struct.pack("<Q", tensor.data_ptr())
    assert pack("*fp32", tensor.data_ptr()) == struct.pack("<Q", tensor.data_ptr())
    assert pack("*fp64", array) == struct.pack("<Q", array.ctypes.data)
    assert pack("*fp32", None) == bytes(8)


def test_what_has_no_address_here_is_refused() -> None:
    elsewhere = SimpleNamespace(data_ptr=None, device=torch.device("cuda", 0))
    with pytest.raises(BadArgument, match="cuda:0"):
        pack("*fp32", elsewhere)
    with pytest.raises(BadArgument, match="tensor, an address or None"):
        pack("*fp32", "text")
    with pytest.raises(BadArgument, match="type i32"):
        pack("i32", "text")


def test_constant_expressions_take_no_slot_and_tuples_are_flattened() -> None:
    signature = ["*fp32", "constexpr", ("i32", ("fp64", "constexpr"), "*i8"), "i64"]
    assert slots(signature) == [
        Slot((0,), "*"),
        Slot((2, 0), "i32"),
        Slot((2, 1, 0), "fp64"),
        Slot((2, 2), "*"),
        Slot((3,), "i64"),
    ]
    packed = packer(signature, [])(None, 64, (-1, (2.5, 3), 4096), 5)
    assert packed == struct.pack("<QqdQq", 0, -1, 2.5, 4096, 5)


@pytest.mark.parametrize("flags", [1, 2])
def test_a_descriptor_is_written_as_the_compiled_function_takes_it(flags: int) -> None:
    tensor = torch.zeros(6, 8)
    descriptor = SimpleNamespace(
        base=tensor, shape=[6, 8], strides=[8, 1], padding="nan", round_f32_to_tf32=False
    )
    types = ["ptr", *["i64"] * 4, *["i1"] * flags, "i32", "i32", "i64", "i64", "i32"]
    packed = packer(["tensordesc<fp32[2, 4]>", "i32"], types)(descriptor, 9)
    expected = [tensor.data_ptr(), 6, 8, 8, 1, 1, 0][: 5 + flags] + [6, 8, 8, 1, 9]
    assert packed == struct.pack(f"<{len(expected)}q", *expected)


def test_unknown_types_are_refused_by_name() -> None:
    with pytest.raises(UnknownArgument, match="i7"):
        slots(["i7"])
    with pytest.raises(UnknownArgument, match="complex"):
        cpp_type("complex")
