# SPDX-License-Identifier: Apache-2.0
"""Casts between number types, each rounded once, without the run-time library's help.

LLVM's own casts are used where hardware has them: half, float and double among each other. It
turns others (to bfloat, double to half) into calls of a library that need not be there, one per
lane; those are written here over bits. So is float to bfloat also where the processor has an
instruction for it: AVX512-BF16 flushes subnormal numbers to zero.

Narrowing double goes through float rounded to odd: a float has more than two bits to spare over
every narrower type, so the second rounding sees what the first dropped (S. Boldo, G. Melquiond,
"When double rounding is odd", 2005).
"""

from __future__ import annotations

from triton_cpu.llvm.emit import FLOAT_BITS, Emitter, Type, Value
from triton_cpu.math.number import Number


def convert(emitter: Emitter, value: Value, to_scalar: str, *, rounding: str = "rtne") -> Value:
    """A float of another type: half, bfloat, float or double, any lanes.

    Args:
        rounding: "rtne" (to nearest, ties to even) or "rtz" (toward zero; finite stays finite).
    """
    return _convert(Number(emitter, value), to_scalar, rounding).value


def _convert(number: Number, to: str, rounding: str) -> Number:
    source = number.type.scalar
    if source == to:
        return number
    if source == "bfloat":
        widened = (number.bits().resize("i32", signed=False) << 16).as_float("float")
        return _convert(widened, to, rounding)
    if FLOAT_BITS[source] < FLOAT_BITS[to] and to != "bfloat":
        return number.cast("fpext", to)
    if source == "half":
        return _convert(number.cast("fpext", "float"), to, rounding)
    if source == "double" and to != "float":
        narrow = toward_zero if rounding == "rtz" else round_to_odd
        return _convert(narrow(number, "float"), to, rounding)
    if to == "bfloat":
        return _float_to_bfloat(number, rounding)
    return toward_zero(number, to) if rounding == "rtz" else number.cast("fptrunc", to)


def toward_zero(number: Number, to: str) -> Number:
    """float to half or double to float, what does not fit cut off."""
    nearest = number.cast("fptrunc", to)
    too_far = abs(nearest.cast("fpext", number.type.scalar)) > abs(number)
    return (nearest.bits() - too_far.resize(f"i{nearest.type.bits}", signed=False)).as_float(to)


def round_to_odd(number: Number, to: str) -> Number:
    """Cut off, and the last bit set where anything was lost."""
    cut = toward_zero(number, to)
    back = cut.cast("fpext", number.type.scalar)
    lost = (back < number) | (back > number)
    return (cut.bits() | lost.resize(f"i{cut.type.bits}", signed=False)).as_float(to)


def _float_to_bfloat(number: Number, rounding: str) -> Number:
    bits = number.bits()
    top = bits.shift_right(16)
    rounded = top if rounding == "rtz" else (bits + 0x7FFF + (top & 1)).shift_right(16)
    chosen = number.is_nan().choose(top | 0x40, rounded)
    return chosen.resize("i16").as_float("bfloat")


class Float8:
    """One 8-bit float kind: a sign, an exponent with ``bias``, and ``mantissa`` bits."""

    def __init__(self, mantissa: int, bias: int, largest: float, nan: int, signed_zero: bool):
        self.mantissa = mantissa
        self.bias = bias
        self.largest = largest
        """The largest finite number; casts to the kind saturate there, infinities included."""
        self.nan = nan
        self.signed_zero = signed_zero
        """Without it the code of -0 is the only NaN (the kinds that AMD calls fnuz)."""


FLOAT8 = {
    "fp8e4nv": Float8(mantissa=3, bias=7, largest=448.0, nan=0x7F, signed_zero=True),
    "fp8e5": Float8(mantissa=2, bias=15, largest=57344.0, nan=0x7F, signed_zero=True),
    # Has no NaN; Triton's conversion for NVIDIA stops at 1.75 though 0x7F reads as 1.875.
    "fp8e4b15": Float8(mantissa=3, bias=15, largest=1.75, nan=0x7E, signed_zero=True),
    "fp8e4b8": Float8(mantissa=3, bias=8, largest=240.0, nan=0x80, signed_zero=False),
    "fp8e5b16": Float8(mantissa=2, bias=16, largest=57344.0, nan=0x80, signed_zero=False),
}


def from_fp8(emitter: Emitter, value: Value, kind: str, to: str) -> Value:
    """An fp8 number held as i8 in a wider float type; exact.

    Raises:
        KeyError: for a kind not in ``FLOAT8``.
    """
    code = Number(emitter, value)
    spec = FLOAT8[kind]
    if kind == "fp8e5":
        return _convert((code.resize("i16", signed=False) << 8).as_float("half"), to, "rtne").value
    wide = code.resize("i32", signed=False)
    # The exponent lands in float's place with the wrong bias; one exact product rights it, and
    # makes normal numbers of subnormal ones.
    magnitude = ((wide & 0x7F) << (23 - spec.mantissa)).as_float("float") * 2.0 ** (127 - spec.bias)
    result = (magnitude.bits() | ((wide & 0x80) << 24)).as_float("float")
    if kind == "fp8e4nv":
        result = (wide & 0x7F).equals(0x7F).choose(float("nan"), result)
    elif not spec.signed_zero:
        result = wide.equals(0x80).choose(float("nan"), result)
    return _convert(result, to, "rtne").value


def to_fp8(emitter: Emitter, value: Value, kind: str, rounding: str = "rtne") -> Value:
    """A float (half, bfloat, float, double) as an fp8 number in an i8; too large saturates.

    Raises:
        KeyError: for a kind not in ``FLOAT8``.
    """
    spec = FLOAT8[kind]
    number = Number(emitter, value)
    if number.type.scalar == "double":
        narrow = toward_zero if rounding == "rtz" else round_to_odd
        number = narrow(number, "float")
    else:
        number = _convert(number, "float", "rtne")
    magnitude = abs(number)
    magnitude = (magnitude > spec.largest).choose(spec.largest, magnitude)
    bits = magnitude.bits()
    dropped = 23 - spec.mantissa
    if rounding == "rtne":
        bits = bits + ((1 << (dropped - 1)) - 1) + (bits.shift_right(dropped) & 1)
    normal = bits.shift_right(dropped) - ((127 - spec.bias) << spec.mantissa)
    # Added to a float whose last place is the kind's smallest step, a small number is rounded to
    # steps by the addition, and the sum's last bits count them.
    steps = 2.0 ** (1 - spec.bias - spec.mantissa + 23)
    summed = magnitude + steps
    small = summed.bits() - magnitude.like(steps).bits()
    if rounding == "rtz":
        small = small - ((summed - steps) > magnitude).resize("i32", signed=False)
    code = (magnitude < 2.0 ** (1 - spec.bias)).choose(small, normal)
    sign = number.bits().shift_right(24) & 0x80
    if not spec.signed_zero:
        sign = code.equals(0).choose(0, sign)
    code = number.is_nan().choose(spec.nan, code | sign)
    return code.resize("i8").value


def float_to_int(emitter: Emitter, value: Value, to_scalar: str, *, signed: bool) -> Value:
    """Toward zero. 32 and 64 bit saturate and take NaN as 0, as GPUs do; 8 and 16 bit are the
    low bits of the 32-bit result, as on every platform; i1 is ``value != 0``.
    """
    number = _convert_to_computable(Number(emitter, value))
    if to_scalar == "i1":
        return number.differs(0.0).value
    bits = int(to_scalar[1:])
    wide = Type(to_scalar if bits >= 32 else "i32", number.type.lanes)
    name = "fptosi" if signed or bits < 32 else "fptoui"
    whole = emitter.call(
        f"llvm.{name}.sat.{wide.suffix}.{number.type.suffix}", wide, [number.value]
    )
    return emitter.resize(whole, to_scalar)


def int_to_float(emitter: Emitter, value: Value, to_scalar: str, *, signed: bool) -> Value:
    """To nearest, ties to even. An i1 is 0 or 1 whatever ``signed`` says."""
    number = Number(emitter, value)
    op = "sitofp" if signed and number.type.scalar != "i1" else "uitofp"
    if to_scalar in ("float", "double"):
        return number.cast(op, to_scalar).value
    # A float holds every 16-bit integer and a double every 32-bit one, so that only the step to
    # the narrow type rounds.
    through = "float" if number.type.bits <= 16 else "double"
    return _convert(number.cast(op, through), to_scalar, "rtne").value


def _convert_to_computable(number: Number) -> Number:
    if number.type.scalar in ("half", "bfloat"):
        return _convert(number, "float", "rtne")
    return number
