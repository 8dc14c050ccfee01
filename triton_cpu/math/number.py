# SPDX-License-Identifier: Apache-2.0
"""Formulas that read as formulas: Python's operators over the values of an Emitter.

Only here are LLVM's instructions chosen by the kind of the operands, so that the files of
functions hold nothing but mathematics.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from triton_cpu.llvm.emit import Emitter, Type, Value, wrap


class Number:
    """A scalar or a vector of floats or integers. Python numbers beside it become constants.

    ``<`` and the like are ordered comparisons (false for NaN) and signed ones for integers;
    ``>>`` keeps the sign, ``shift_right`` does not. Nothing is reassociated or contracted.
    """

    __slots__ = ("emitter", "value")

    def __init__(self, emitter: Emitter, value: Value) -> None:
        self.emitter = emitter
        self.value = value

    # -- other numbers of the same shape -------------------------------------------------------

    @property
    def type(self) -> Type:
        return self.value.type

    def like(self, constant: int | float) -> Number:
        """A constant of this number's type."""
        if self.type.is_int:
            constant = wrap(int(constant), self.type.bits)
        return Number(self.emitter, self.emitter.const(self.type, constant))

    def of(self, scalar: str, constant: int | float) -> Number:
        """A constant of this number's shape and another scalar type."""
        return Number(self.emitter, self.emitter.const(self.type.of(scalar), constant))

    def _other(self, other: Number | int | float) -> Value:
        return other.value if isinstance(other, Number) else self.like(other).value

    def _binary(self, op: str, a: Value, b: Value) -> Number:
        return Number(self.emitter, self.emitter.binary(op, a, b))

    def _arithmetic(self, op: str, other: Number | int | float, swap: bool = False) -> Number:
        name = "f" + op if self.type.is_float else op
        a, b = self.value, self._other(other)
        return self._binary(name, b, a) if swap else self._binary(name, a, b)

    # -- arithmetic ----------------------------------------------------------------------------

    def __add__(self, other: Number | int | float) -> Number:
        return self._arithmetic("add", other)

    __radd__ = __add__

    def __sub__(self, other: Number | int | float) -> Number:
        return self._arithmetic("sub", other)

    def __rsub__(self, other: int | float) -> Number:
        return self._arithmetic("sub", other, swap=True)

    def __mul__(self, other: Number | int | float) -> Number:
        return self._arithmetic("mul", other)

    __rmul__ = __mul__

    def __truediv__(self, other: Number | int | float) -> Number:
        return self._binary("fdiv", self.value, self._other(other))

    def __rtruediv__(self, other: int | float) -> Number:
        return self._binary("fdiv", self._other(other), self.value)

    def __neg__(self) -> Number:
        if self.type.is_float:
            text = f"fneg {self.type} {self.value.text}"
            return Number(self.emitter, self.emitter.value(self.type, text))
        return self.like(0) - self

    def __abs__(self) -> Number:
        if self.type.is_float:
            return self.intrinsic("fabs")
        return self.intrinsic("abs", Number(self.emitter, self.emitter.const(Type("i1"), 0)))

    # -- bits ----------------------------------------------------------------------------------

    def __and__(self, other: Number | int) -> Number:
        return self._binary("and", self.value, self._other(other))

    def __or__(self, other: Number | int) -> Number:
        return self._binary("or", self.value, self._other(other))

    def __xor__(self, other: Number | int) -> Number:
        return self._binary("xor", self.value, self._other(other))

    def __lshift__(self, other: Number | int) -> Number:
        return self._binary("shl", self.value, self._other(other))

    def __rshift__(self, other: Number | int) -> Number:
        return self._binary("ashr", self.value, self._other(other))

    def shift_right(self, other: Number | int) -> Number:
        """Fills with zeros."""
        return self._binary("lshr", self.value, self._other(other))

    def __invert__(self) -> Number:
        return self ^ -1

    # -- comparisons: numbers of i1 ------------------------------------------------------------

    def _compare(self, name: str, other: Number | int | float) -> Number:
        return Number(self.emitter, self.emitter.compare(name, self.value, self._other(other)))

    def __lt__(self, other: Number | int | float) -> Number:
        return self._compare("olt" if self.type.is_float else "slt", other)

    def __le__(self, other: Number | int | float) -> Number:
        return self._compare("ole" if self.type.is_float else "sle", other)

    def __gt__(self, other: Number | int | float) -> Number:
        return self._compare("ogt" if self.type.is_float else "sgt", other)

    def __ge__(self, other: Number | int | float) -> Number:
        return self._compare("oge" if self.type.is_float else "sge", other)

    def equals(self, other: Number | int | float) -> Number:
        return self._compare("oeq" if self.type.is_float else "eq", other)

    def differs(self, other: Number | int | float) -> Number:
        """Also true where one of two floats is NaN."""
        return self._compare("une" if self.type.is_float else "ne", other)

    def is_nan(self) -> Number:
        return self._compare("uno", self)

    def choose(self, yes: Number | int | float, no: Number | int | float) -> Number:
        """Where this condition holds ``yes``, elsewhere ``no``; at least one is a Number."""
        if not isinstance(yes, Number):
            assert isinstance(no, Number)
            yes = no.like(yes)
        if not isinstance(no, Number):
            no = yes.like(no)
        return Number(self.emitter, self.emitter.select(self.value, yes.value, no.value))

    # -- casts ---------------------------------------------------------------------------------

    def cast(self, op: str, scalar: str) -> Number:
        """``op`` is LLVM's: sext, fptrunc, sitofp, ..."""
        return Number(self.emitter, self.emitter.cast(op, self.value, scalar))

    def resize(self, scalar: str, signed: bool = True) -> Number:
        return Number(self.emitter, self.emitter.resize(self.value, scalar, signed))

    def bits(self) -> Number:
        """A float's bits as an integer of its width."""
        to = self.type.of(f"i{self.type.bits}")
        return Number(self.emitter, self.emitter.bitcast(self.value, to))

    def as_float(self, scalar: str) -> Number:
        """An integer's bits as a float of its width."""
        return Number(self.emitter, self.emitter.bitcast(self.value, self.type.of(scalar)))

    # -- functions that are one instruction ----------------------------------------------------

    def intrinsic(self, name: str, *others: Number) -> Number:
        arguments = [self.value, *(other.value for other in others)]
        return Number(self.emitter, self.emitter.intrinsic(name, arguments))

    def fma(self, factor: Number | int | float, term: Number | int | float) -> Number:
        """``self * factor + term`` with one rounding."""
        arguments = [self.value, self._other(factor), self._other(term)]
        return Number(self.emitter, self.emitter.intrinsic("fma", arguments))

    def sqrt(self) -> Number:
        return self.intrinsic("sqrt")

    def copysign(self, sign: Number) -> Number:
        return self.intrinsic("copysign", sign)

    def polynomial(self, coefficients: Sequence[float]) -> Number:
        """Horner's rule, the constant term first."""
        result = self.like(coefficients[-1])
        for coefficient in reversed(coefficients[:-1]):
            result = result.fma(self, coefficient)
        return result


def lane_by_lane(name: str, result: Type, arguments: Sequence[Number]) -> Number:
    """Calls a C function for each lane; ``result`` is its scalar type."""
    emitter = arguments[0].emitter

    def one(lanes: list[Value]) -> Value:
        return emitter.call(name, result, lanes)

    return Number(emitter, emitter.each_lane([argument.value for argument in arguments], one))


def where_rare(condition: Number, usual: Number, rare: Callable[[], Number]) -> Number:
    """``rare()`` where the condition holds, and its code runs only when some lane needs it."""
    emitter = condition.emitter
    anywhere = condition.value
    if condition.type.lanes:
        name = f"llvm.vector.reduce.or.{condition.type.suffix}"
        anywhere = emitter.call(name, Type("i1"), [condition.value])
    before, inside, after = emitter.fresh("usual"), emitter.fresh("rare"), emitter.fresh("joined")
    emitter.branch(before)
    emitter.label(before)
    emitter.branch_if(anywhere, inside, after)
    emitter.label(inside)
    chosen = condition.choose(rare(), usual)
    last = emitter.block
    emitter.branch(after)
    emitter.label(after)
    kind = usual.type
    text = f"phi {kind} [{usual.value.text}, %{before}], [{chosen.value.text}, %{last}]"
    return Number(emitter, emitter.value(kind, text))
