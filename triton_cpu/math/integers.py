# SPDX-License-Identifier: Apache-2.0
"""Integer functions of CUDA's libdevice, by LLVM's intrinsics where there are any."""

from __future__ import annotations

from triton_cpu.llvm.emit import Type
from triton_cpu.math.number import Number


def _false(x: Number) -> Number:
    return Number(x.emitter, x.emitter.const(Type("i1"), 0))


def clz(x: Number) -> Number:
    """Leading zeros, as i32; all of them for 0."""
    return x.intrinsic("ctlz", _false(x)).resize("i32")


def popc(x: Number) -> Number:
    """Ones, as i32."""
    return x.intrinsic("ctpop").resize("i32")


def ffs(x: Number) -> Number:
    """The place of the lowest one counted from 1, as i32; 0 for 0."""
    place = x.intrinsic("cttz", _false(x)) + 1
    return x.equals(0).choose(0, place).resize("i32")


def brev(x: Number) -> Number:
    """The bits in opposite order."""
    return x.intrinsic("bitreverse")


def multiply_high(a: Number, b: Number, signed: bool) -> Number:
    """The upper half of the product of twice the width."""
    bits = a.type.bits
    double = f"i{2 * bits}"
    product = a.resize(double, signed) * b.resize(double, signed)
    return product.shift_right(bits).resize(f"i{bits}")


def multiply_24(a: Number, b: Number, signed: bool) -> Number:
    """The low 32 bits of the product of the operands' low 24 bits."""
    if signed:
        return ((a << 8) >> 8) * ((b << 8) >> 8)
    return (a & 0xFFFFFF) * (b & 0xFFFFFF)


def absolute(x: Number) -> Number:
    """The smallest integer stays."""
    return abs(x)


def sum_of_difference(a: Number, b: Number, c: Number, signed: bool) -> Number:
    """|a - b| + c"""
    larger = a > b if signed else _above(a, b)
    return larger.choose(a - b, b - a) + c


def _above(a: Number, b: Number) -> Number:
    return Number(a.emitter, a.emitter.compare("ugt", a.value, b.value))


def half_sum(a: Number, b: Number, signed: bool, up: bool) -> Number:
    """(a + b) / 2, or (a + b + 1) / 2, without overflow."""
    differ = a ^ b
    half = differ >> 1 if signed else differ.shift_right(1)
    return (a | b) - half if up else (a & b) + half


def byte_permute(a: Number, b: Number, selector: Number) -> Number:
    """Four bytes out of the eight of b:a, chosen by three bits of each nibble of the selector."""
    both = a.resize("i64", False) | (b.resize("i64", False) << 32)
    result = a.like(0)
    for place in range(4):
        shift = (selector.shift_right(4 * place) & 7).resize("i64", False) << 3
        byte = both.shift_right(shift).resize("i32") & 0xFF
        result = result | (byte << (8 * place))
    return result
