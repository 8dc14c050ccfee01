# SPDX-License-Identifier: Apache-2.0
"""What libdevice has beside elementary functions: integers, bits, rounding in a direction."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from triton.language.extra import libdevice as names
from triton.language.extra.cuda import libdevice as symbols

from tests.unit.triton_cpu.math.apply import compiled
from triton_cpu import libdevice
from triton_cpu.math import FUNCTIONS

RANDOM = np.random.default_rng(2)


def apply(name: str, inputs: list[str], output: str, *arrays: np.ndarray) -> np.ndarray:
    return compiled(FUNCTIONS["__nv_" + name], inputs, output, 8)(*arrays)


def test_every_symbol_of_the_wheel_is_implemented() -> None:
    text = Path(symbols.__file__).read_text()
    assert not set(re.findall(r'"(__nv_\w+)"', text)) - FUNCTIONS.keys()


def test_every_name_of_the_wheel_is_there() -> None:
    wanted = {name for name, item in vars(names).items() if callable(item)}
    assert not {name for name in wanted if not hasattr(libdevice, name)}


def integers(bits: int, count: int = 2000) -> np.ndarray:
    kind = {32: np.int32, 64: np.int64}[bits]
    info = np.iinfo(kind)
    drawn = RANDOM.integers(-(2**63), 2**63 - 1, count) >> RANDOM.integers(64 - bits, 64, count)
    ends = [0, 1, -1, 2, info.min, info.max, info.min + 1]
    return np.concatenate([np.array(ends, kind), drawn.astype(kind)])


def unsigned(value: int, bits: int) -> int:
    return int(value) & ((1 << bits) - 1)


ONE_INTEGER: dict[str, tuple[int, str, Callable[[int, int], int]]] = {
    "clz": (32, "i32", lambda n, b: b - unsigned(n, b).bit_length()),
    "clzll": (64, "i32", lambda n, b: b - unsigned(n, b).bit_length()),
    "popc": (32, "i32", lambda n, b: unsigned(n, b).bit_count()),
    "popcll": (64, "i32", lambda n, b: unsigned(n, b).bit_count()),
    "ffs": (32, "i32", lambda n, b: (n & -n).bit_length()),
    "ffsll": (64, "i32", lambda n, b: (n & -n).bit_length()),
    "brev": (32, "i32", lambda n, b: int(f"{unsigned(n, b):0{b}b}"[::-1], 2)),
    "brevll": (64, "i64", lambda n, b: int(f"{unsigned(n, b):0{b}b}"[::-1], 2)),
    "abs": (32, "i32", lambda n, b: abs(n)),
    "llabs": (64, "i64", lambda n, b: abs(n)),
}


@pytest.mark.parametrize("name", ONE_INTEGER)
def test_functions_of_one_integer(name: str) -> None:
    bits, output, exact = ONE_INTEGER[name]
    given = integers(bits)
    got = apply(name, [f"i{bits}"], output, given)
    width = int(output[1:])
    expected = [unsigned(exact(int(n), bits), width) for n in given]
    assert [unsigned(n, width) for n in got] == expected


def low24(n: int) -> int:
    n &= 0xFFFFFF
    return n - (1 << 24) if n >> 23 else n


TWO_INTEGERS: dict[str, tuple[int, bool, Callable[[int, int], int]]] = {
    "mulhi": (32, True, lambda a, b: (a * b) >> 32),
    "umulhi": (32, False, lambda a, b: (a * b) >> 32),
    "mul64hi": (64, True, lambda a, b: (a * b) >> 64),
    "umul64hi": (64, False, lambda a, b: (a * b) >> 64),
    "mul24": (32, True, lambda a, b: low24(a) * low24(b)),
    "umul24": (32, False, lambda a, b: (a & 0xFFFFFF) * (b & 0xFFFFFF)),
    "hadd": (32, True, lambda a, b: (a + b) >> 1),
    "uhadd": (32, False, lambda a, b: (a + b) >> 1),
    "rhadd": (32, True, lambda a, b: (a + b + 1) >> 1),
    "urhadd": (32, False, lambda a, b: (a + b + 1) >> 1),
}


@pytest.mark.parametrize("name", TWO_INTEGERS)
def test_functions_of_two_integers(name: str) -> None:
    bits, signed, exact = TWO_INTEGERS[name]
    left, right = integers(bits), RANDOM.permutation(integers(bits))
    got = apply(name, [f"i{bits}"] * 2, f"i{bits}", left, right)

    def value(n: int) -> int:
        return int(n) if signed else unsigned(n, bits)

    expected = [unsigned(exact(value(a), value(b)), bits) for a, b in zip(left, right, strict=True)]
    assert [unsigned(n, bits) for n in got] == expected


@pytest.mark.parametrize(("name", "signed"), [("sad", True), ("usad", False)])
def test_sum_of_absolute_difference(name: str, signed: bool) -> None:
    a, b, c = integers(32), RANDOM.permutation(integers(32)), RANDOM.permutation(integers(32))
    got = apply(name, ["i32"] * 3, "i32", a, b, c)
    kind = np.int64 if signed else np.uint32
    difference = np.abs(a.astype(kind).astype(np.int64) - b.astype(kind).astype(np.int64))
    expected = (difference + c).astype(np.uint64).astype(np.uint32)
    assert np.array_equal(got.view(np.uint32), expected)


def test_byte_perm() -> None:
    a, b, selector = integers(32), RANDOM.permutation(integers(32)), integers(32)
    got = apply("byte_perm", ["i32"] * 3, "i32", a, b, selector)
    for x, y, s, result in zip(a, b, selector, got, strict=True):
        pool = unsigned(x, 32).to_bytes(4, "little") + unsigned(y, 32).to_bytes(4, "little")
        chosen = bytes(pool[(unsigned(s, 32) >> (4 * place)) & 7] for place in range(4))
        assert unsigned(result, 32).to_bytes(4, "little") == chosen


KINDS = {"f": ("float", np.float32), "d": ("double", np.float64)}
EXACT: dict[str, tuple[int, Callable[..., Fraction]]] = {
    "add": (2, lambda a, b: a + b),
    "sub": (2, lambda a, b: a - b),
    "mul": (2, lambda a, b: a * b),
    "div": (2, lambda a, b: a / b),
    "rcp": (1, lambda a: 1 / a),
    "fma": (3, lambda a, b, c: a * b + c),
}


def in_direction(exact: Fraction, nearest: np.floating, mode: str) -> np.floating:
    """The float of ``nearest``'s type on the right side of an exact value."""
    kind = type(nearest)
    lower = nearest if Fraction(float(nearest)) <= exact else np.nextafter(nearest, kind(-np.inf))
    upper = nearest if Fraction(float(nearest)) >= exact else np.nextafter(nearest, kind(np.inf))
    if mode == "rz":
        mode = "rd" if exact > 0 else "ru"
    return lower if mode == "rd" else upper


@pytest.mark.parametrize("mode", ["rz", "rd", "ru"])
@pytest.mark.parametrize("width", KINDS)
@pytest.mark.parametrize("operation", EXACT)
def test_directed_arithmetic(operation: str, width: str, mode: str) -> None:
    scalar, kind = KINDS[width]
    count, exact = EXACT[operation]
    arrays = [
        (RANDOM.standard_normal(500) * 2.0 ** RANDOM.integers(-12, 12, 500)).astype(kind)
        for _ in range(count)
    ]
    name = f"{width}{operation}_{mode}"
    if operation == "fma":
        name = f"fma{'f' if width == 'f' else ''}_{mode}"
    got = apply(name, [scalar] * count, scalar, *arrays)
    for place, result in enumerate(got):
        value = exact(*[Fraction(float(array[place])) for array in arrays])
        assert result == in_direction(value, kind(value), mode), [a[place] for a in arrays]


@pytest.mark.parametrize("mode", ["rz", "rd", "ru"])
@pytest.mark.parametrize("width", KINDS)
def test_directed_square_root(width: str, mode: str) -> None:
    scalar, kind = KINDS[width]
    given = np.concatenate([RANDOM.uniform(0, 100, 500), [0.0, 4.0, 2.25, np.inf]]).astype(kind)
    got = apply(f"{width}sqrt_{mode}", [scalar], scalar, given)
    for x, root in zip(given[:-1], got[:-1], strict=True):
        down, up = root, root
        if mode == "ru":
            down = np.nextafter(root, kind(-np.inf))
            assert Fraction(float(up)) ** 2 >= Fraction(float(x))
            assert down < 0 or Fraction(float(down)) ** 2 < Fraction(float(x))
        else:
            up = np.nextafter(root, kind(np.inf))
            assert Fraction(float(down)) ** 2 <= Fraction(float(x)) < Fraction(float(up)) ** 2
    assert np.isinf(got[-1])


@pytest.mark.parametrize(
    ("mode", "expected"), [("rz", np.finfo(np.float32).max), ("ru", np.inf), ("rn", np.inf)]
)
def test_directed_overflow(mode: str, expected: float) -> None:
    largest = np.array([np.finfo(np.float32).max], np.float32)
    assert apply(f"fadd_{mode}", ["float"] * 2, "float", largest, largest)[0] == expected
    assert apply(f"fmul_{mode}", ["float"] * 2, "float", largest, largest)[0] == expected
    assert apply(f"double2float_{mode}", ["double"], "float", np.array([1e300]))[0] == expected


WHOLE = {"rn": np.rint, "rz": np.trunc, "rd": np.floor, "ru": np.ceil}


@pytest.mark.parametrize("mode", WHOLE)
@pytest.mark.parametrize(("integer", "scalar"), [("int", "i32"), ("ll", "i64")])
@pytest.mark.parametrize("width", ["float", "double"])
def test_float_to_integer(width: str, integer: str, scalar: str, mode: str) -> None:
    kind = np.float32 if width == "float" else np.float64
    given = (RANDOM.standard_normal(1000) * 100).round(1).astype(kind)
    got = apply(f"{width}2{integer}_{mode}", [width], scalar, given)
    assert np.array_equal(got, WHOLE[mode](given).astype(got.dtype))


@pytest.mark.parametrize("mode", ["rn", "rz", "rd", "ru"])
@pytest.mark.parametrize("width", ["float", "double"])
@pytest.mark.parametrize("integer", ["int", "uint", "ll", "ull"])
def test_integer_to_float(integer: str, width: str, mode: str) -> None:
    bits = 64 if "ll" in integer else 32
    given = integers(bits, 500)
    got = apply(f"{integer}2{width}_{mode}", [f"i{bits}"], width, given)
    for number, result in zip(given, got, strict=True):
        exact = Fraction(unsigned(number, bits) if integer.startswith("u") else int(number))
        if mode == "rn":
            away = abs(Fraction(float(result)) - exact)
            for side in (np.inf, -np.inf):
                neighbour = np.nextafter(result, result.dtype.type(side))
                assert away <= abs(Fraction(float(neighbour)) - exact)
        else:
            assert result == in_direction(exact, result.dtype.type(int(exact)), mode)


def test_classification_and_bits() -> None:
    x = np.array([0.0, -0.0, 1.5, -2.0, np.inf, -np.inf, np.nan, 1e-40], np.float32)
    truths = {
        "isnanf": np.isnan,
        "isinff": np.isinf,
        "finitef": np.isfinite,
        "signbitf": np.signbit,
    }
    for name, function in truths.items():
        assert np.array_equal(apply(name, ["float"], "i32", x) != 0, function(x)), name
    assert np.array_equal(apply("float_as_int", ["float"], "i32", x), x.view(np.int32))
    assert apply("ilogbf", ["float"], "i32", x[2:5]).tolist() == [0, 1, 2**31 - 1]
    assert apply("ilogbf", ["float"], "i32", x[:1])[0] == -(2**31)
    assert apply("ilogbf", ["float"], "i32", x[7:])[0] == -133
    assert apply("logbf", ["float"], "float", x[:1])[0] == -np.inf
    assert apply("saturatef", ["float"], "float", x).tolist() == pytest.approx(
        [0, 0, 1, 0, 1, 0, 0, 1e-40]
    )
    d = RANDOM.standard_normal(100)
    high = apply("double2hiint", ["double"], "i32", d)
    low = apply("double2loint", ["double"], "i32", d)
    assert np.array_equal(apply("hiloint2double", ["i32", "i32"], "double", high, low), d)


def test_ldexp_and_powers_of_integers() -> None:
    x = np.array([1.5, -3.0, 0.0, np.inf, 1e-38, 0.1], np.float32)
    n = np.array([3, -2, 5, -7, -10, 200], np.int32)
    with np.errstate(over="ignore"):
        expected = np.ldexp(x, n)
    assert np.array_equal(apply("ldexpf", ["float", "i32"], "float", x, n), expected)
    got = apply("powif", ["float", "i32"], "float", np.float32([2, -2, -2, 0, 5]), n[:5] * 0 + 3)
    assert got.tolist() == [8.0, -8.0, -8.0, 0.0, 125.0]
    assert apply("nextafterf", ["float"] * 2, "float", x[:1], x[1:2])[0] == np.nextafter(
        np.float32(1.5), np.float32(-3)
    )
    given = np.array([3.0, -4.0, np.nan, 2.0])
    other = np.array([1.0, 1.0, 1.0, 3.0])
    fdim = apply("fdim", ["double"] * 2, "double", given, other)
    assert np.array_equal(fdim, [2.0, 0.0, np.nan, 0.0], equal_nan=True)


@pytest.mark.parametrize("width", KINDS)
def test_lengths_neither_overflow_nor_vanish(width: str) -> None:
    scalar, kind = KINDS[width]
    info = np.finfo(kind)
    suffix = "f" if width == "f" else ""
    for size in (info.max / 4, info.tiny * 4, kind(1)):
        parts = [np.array([size], kind)] * 4
        got = apply("norm4d" + suffix, [scalar] * 4, scalar, *parts)[0]
        assert got == pytest.approx(2 * size, rel=2 * float(info.eps))
    inf, nan = np.array([np.inf], kind), np.array([np.nan], kind)
    assert apply("norm3d" + suffix, [scalar] * 3, scalar, inf, nan, nan)[0] == np.inf
    three, four = np.array([3], kind), np.array([4], kind)
    assert apply("rhypot" + suffix, [scalar] * 2, scalar, three, four)[0] == pytest.approx(0.2)


def test_bessel_functions_of_the_first_kind() -> None:
    # Abramowitz, Stegun, table 9.1.
    x = np.array([0.0, 1.0, 5.0])
    j0 = apply("j0", ["double"], "double", x)
    assert j0 == pytest.approx([1.0, 0.765197686557967, -0.177596771314338], rel=1e-13)
    order = np.array([2, 2, 2], np.int32)
    jn = apply("jn", ["i32", "double"], "double", order, x)
    assert jn == pytest.approx([0.0, 0.114903484931900, 0.046565116277752], rel=1e-13)
