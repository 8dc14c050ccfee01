# SPDX-License-Identifier: Apache-2.0
"""Casts between float types, bit for bit: every 8- and 16-bit number, and random wider ones."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.unit.triton_cpu.math.apply import compiled
from triton_cpu.math.casts import (
    FLOAT8,
    convert,
    float_to_int,
    from_fp8,
    int_to_float,
    to_fp8,
)

RANDOM = np.random.default_rng(0)
FLOATS = RANDOM.integers(0, 2**32, 2**18, dtype=np.uint64).astype(np.uint32).view(np.float32)
CODES = np.arange(256, dtype=np.uint8).view(np.int8)
EVERY_16 = np.arange(2**16, dtype=np.uint32).astype(np.uint16)


def cast(values: np.ndarray, source: str, target: str, lanes: int = 16, **options) -> np.ndarray:
    run = compiled(lambda e, v: convert(e, v[0], target, **options), [source], target, lanes)
    return run(values)


def decode(codes: np.ndarray, kind: str) -> np.ndarray:
    """The values of fp8 codes by the definition of the format, NaN for those that are none."""
    spec = FLOAT8[kind]
    bits = codes.view(np.uint8).astype(np.int64)
    exponent = (bits & 0x7F) >> spec.mantissa
    fraction = (bits & ((1 << spec.mantissa) - 1)) / 2.0**spec.mantissa
    normal = (1 + fraction) * 2.0 ** (exponent - float(spec.bias))
    value = np.where(exponent == 0, fraction * 2.0 ** (1 - spec.bias), normal)
    value = np.where(bits >> 7, -value, value)
    if kind == "fp8e4nv":
        value[(bits & 0x7F) == 0x7F] = np.nan
    if kind == "fp8e5":
        value[exponent == 31] = np.where(fraction[exponent == 31] > 0, np.nan, np.inf)
        value[bits == 0xFC] = -np.inf
    if not spec.signed_zero:
        value[bits == 0x80] = np.nan
    return value


def nearest_code(values: np.ndarray, kind: str, rounding: str) -> np.ndarray:
    """By search among all finite values: the nearest, of two equally near the even code."""
    spec = FLOAT8[kind]
    steps = decode(np.arange(128, dtype=np.uint8).view(np.int8), kind)
    count = int(np.sum(np.isfinite(steps) & (steps <= spec.largest)))
    steps = steps[:count]
    size = np.minimum(np.abs(values.astype(np.float64)), spec.largest)
    below = np.clip(np.searchsorted(steps, size, side="right") - 1, 0, count - 1)
    above = np.minimum(below + 1, count - 1)
    if rounding == "rtz":
        code = below
    else:
        down, up = size - steps[below], steps[above] - size
        code = np.where(down < up, below, np.where(up < down, above, below + (below & 1)))
        code = np.minimum(code, count - 1)
    sign = np.signbit(values)
    if not spec.signed_zero:
        sign = sign & (code > 0)
    code = code + 128 * sign
    return np.where(np.isnan(values), spec.nan, code).astype(np.uint8)


def test_half_widens_exactly() -> None:
    halves = EVERY_16.view(np.float16)
    for lanes in (0, 16):
        wide = cast(halves, "half", "float", lanes)
        assert np.array_equal(wide, halves.astype(np.float32), equal_nan=True)


@pytest.mark.parametrize("target", ["float", "double"])
def test_bfloat_widens_exactly(target: str) -> None:
    wide = cast(EVERY_16, "bfloat", target)
    expected = (EVERY_16.astype(np.uint32) << 16).view(np.float32)
    assert np.array_equal(wide, expected.astype(wide.dtype), equal_nan=True)


def test_float_to_bfloat_rounds_to_even_and_keeps_nan_quiet() -> None:
    got = cast(FLOATS, "float", "bfloat")
    expected = torch.from_numpy(FLOATS).to(torch.bfloat16).view(torch.uint16).numpy()
    nan = np.isnan(FLOATS)
    assert np.array_equal(got[~nan], expected[~nan])
    assert np.all((got[nan] & 0x7FC0) == 0x7FC0)


def test_bfloat_cut_off() -> None:
    got = cast(FLOATS, "float", "bfloat", rounding="rtz")
    nan = np.isnan(FLOATS)
    assert np.array_equal(got[~nan], (FLOATS.view(np.uint32) >> 16).astype(np.uint16)[~nan])


@pytest.mark.parametrize("source", ["float", "double"])
def test_to_half(source: str) -> None:
    values = near_halves(source)
    with np.errstate(all="ignore"):
        expected = values.astype(np.float16)
    assert np.array_equal(cast(values, source, "half"), expected, equal_nan=True)


@pytest.mark.parametrize("source", ["float", "double"])
def test_to_half_cut_off(source: str) -> None:
    values = near_halves(source)
    got = cast(values, source, "half", rounding="rtz")
    with np.errstate(all="ignore"):
        nearest = values.astype(np.float16)
        too_far = np.abs(nearest.astype(np.float64)) > np.abs(values.astype(np.float64))
        expected = np.where(too_far, np.nextafter(nearest, np.float16(0)), nearest)
    assert np.array_equal(got, expected, equal_nan=True)


def near_halves(source: str) -> np.ndarray:
    """Numbers at, between and next to halves, with ties that rounding twice would get wrong."""
    kind = np.float32 if source == "float" else np.float64
    halves = EVERY_16.view(np.float16).astype(kind)
    halves = halves[np.isfinite(halves)]
    ties = (halves[:-1] + halves[1:]) / 2
    ends = np.array([65519.0, 65520.0, 65535.0, 1e9, np.inf, -np.inf, np.nan, 1e-30], kind)
    sides = [np.nextafter(ties, kind(np.inf)), np.nextafter(ties, kind(-np.inf))]
    return np.concatenate([halves, ties, *sides, ends])


def test_double_to_bfloat_rounds_once() -> None:
    top = (EVERY_16.astype(np.uint32) << 16).view(np.float32)
    top = top[np.isfinite(top)].astype(np.float64)
    ties = (top[:-1] + top[1:]) / 2
    # A float would round these to the tie, and the tie then to the wrong side.
    above = np.nextafter(ties, np.inf)
    below = np.nextafter(ties, -np.inf)
    for values, other in ((above, top[1:]), (below, top[:-1])):
        got = (cast(values, "double", "bfloat").astype(np.uint32) << 16).view(np.float32)
        ordered = top[1:] > top[:-1]
        assert np.array_equal(got.astype(np.float64)[ordered], other[ordered])


@pytest.mark.parametrize("kind", FLOAT8)
@pytest.mark.parametrize("target", ["half", "bfloat", "float", "double"])
def test_every_fp8_code_widens(kind: str, target: str) -> None:
    run = compiled(lambda e, v: from_fp8(e, v[0], kind, target), ["i8"], target)
    got = run(CODES)
    if target == "bfloat":
        got = (got.astype(np.uint32) << 16).view(np.float32)
    expected = decode(CODES, kind).astype(got.dtype)
    assert np.array_equal(got, expected, equal_nan=True)
    assert np.array_equal(np.signbit(got)[~np.isnan(got)], np.signbit(expected)[~np.isnan(got)])


@pytest.mark.parametrize("rounding", ["rtne", "rtz"])
@pytest.mark.parametrize("kind", FLOAT8)
@pytest.mark.parametrize("source", ["half", "bfloat", "float", "double"])
def test_to_fp8(kind: str, rounding: str, source: str) -> None:
    run = compiled(lambda e, v: to_fp8(e, v[0], kind, rounding), [source], "i8")
    if source == "half":
        given = values = EVERY_16.view(np.float16)
    elif source == "bfloat":
        given = EVERY_16
        values = (EVERY_16.astype(np.uint32) << 16).view(np.float32)
    else:
        dtype = np.float32 if source == "float" else np.float64
        codes = decode(CODES, kind)
        finite = np.sort(codes[np.isfinite(codes)])
        ties = ((finite[1:] + finite[:-1]) / 2).astype(dtype)
        sides = [np.nextafter(ties, dtype(np.inf)), np.nextafter(ties, dtype(-np.inf))]
        drawn = RANDOM.standard_normal(20_000) * 2.0 ** RANDOM.integers(-24, 20, 20_000)
        ends = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, 1e30, -1e30, 1e-40])
        given = np.concatenate([finite, ties, *sides, drawn, ends]).astype(dtype)
        given = values = np.concatenate([given, FLOATS[:20_000].astype(dtype)])
    expected = nearest_code(values, kind, rounding)
    assert np.array_equal(run(given).view(np.uint8), expected)


TORCH_KINDS = {
    "fp8e4nv": torch.float8_e4m3fn,
    "fp8e5": torch.float8_e5m2,
    "fp8e4b8": torch.float8_e4m3fnuz,
    "fp8e5b16": torch.float8_e5m2fnuz,
}


@pytest.mark.parametrize("kind", TORCH_KINDS)
def test_the_search_agrees_with_torch(kind: str) -> None:
    dtype = TORCH_KINDS[kind]
    values = FLOATS[np.abs(FLOATS) <= FLOAT8[kind].largest]
    expected = torch.from_numpy(values).to(dtype).view(torch.uint8).numpy()
    assert np.array_equal(nearest_code(values, kind, "rtne"), expected)


@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("target", ["i32", "i64"])
@pytest.mark.parametrize("source", ["half", "float", "double"])
def test_float_to_int_saturates(source: str, target: str, signed: bool) -> None:
    run = compiled(lambda e, v: float_to_int(e, v[0], target, signed=signed), [source], target)
    kind = {"half": np.float16, "float": np.float32, "double": np.float64}[source]
    values = np.array([0.0, -0.5, 0.99, -1.5, 7.9, -7.9, 3e4, 2e9, 3e9, -3e9, 1e19, 2e19], float)
    with np.errstate(over="ignore"):
        values = np.concatenate([values, [np.nan, np.inf, -np.inf]]).astype(kind)
    bits = int(target[1:])
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    expected = []
    for value in values.tolist():
        if value != value:
            expected.append(0)
        elif value in (float("inf"), float("-inf")):
            expected.append(high if value > 0 else low)
        else:
            expected.append(min(max(int(value), low), high))
    got = [int(number) for number in run(values)]
    assert [number & (2**bits - 1) for number in got] == [n & (2**bits - 1) for n in expected]


@pytest.mark.parametrize("target", ["half", "bfloat", "float", "double"])
@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("source", ["i8", "i16", "i32", "i64"])
def test_int_to_float(source: str, signed: bool, target: str) -> None:
    bits = int(source[1:])
    numbers = RANDOM.integers(-(2**63), 2**63 - 1, 4000) >> RANDOM.integers(0, 63, 4000)
    numbers = numbers.astype({8: np.int8, 16: np.int16, 32: np.int32, 64: np.int64}[bits])
    run = compiled(lambda e, v: int_to_float(e, v[0], target, signed=signed), [source], target)
    got = run(numbers)
    exact = numbers if signed else numbers.view(numbers.dtype.str.replace("i", "u"))
    if target == "bfloat":
        got = (got.astype(np.uint32) << 16).view(np.float32)
        # float64 holds all but 64-bit numbers, whose last bits a tie may hang on; none here does.
        expected = torch.from_numpy(exact.astype(np.float64)).to(torch.bfloat16).float().numpy()
    else:
        with np.errstate(over="ignore"):
            expected = exact.astype(got.dtype)
    assert np.array_equal(got, expected)


@pytest.mark.parametrize("signed", [True, False])
def test_a_boolean_is_zero_or_one(signed: bool) -> None:
    run = compiled(lambda e, v: int_to_float(e, v[0], "float", signed=signed), ["i1"], "float")
    assert run(np.array([0, 1, 1, 0], np.uint8)).tolist() == [0.0, 1.0, 1.0, 0.0]


def test_nan_is_true_and_zeros_are_false() -> None:
    run = compiled(lambda e, v: float_to_int(e, v[0], "i1", signed=True), ["float"], "i1")
    assert run(np.array([0.0, -0.0, 0.5, np.nan], np.float32)).tolist() == [0, 0, 1, 1]
