# SPDX-License-Identifier: Apache-2.0
"""Operations that work element by element, and how a tensor of them is kept.

Arithmetic on separable index tensors stays separable; cheap expressions of them stay lazy; all
else waits in the open group.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from triton_cpu.codegen.group import add_pending
from triton_cpu.codegen.place import Place
from triton_cpu.codegen.registry import ELEMENTWISE, HANDLERS, Elementwise, elementwise
from triton_cpu.codegen.values import Lazy, Pending, Separable, Splat, Tensor, View
from triton_cpu.llvm.emit import I1, Value, wrap

if TYPE_CHECKING:
    from triton_cpu.codegen.lowering import Lowering
    from triton_cpu.ttir import Operation

LAZY_DEPTH = 6
"""How deep an expression may be before computing it once is cheaper than again and again."""
HASH_MULTIPLIER = 1 << 24
"""A constant factor this large belongs to a hash, not to an index; such sums may wrap."""

_INTEGER = {
    "arith.addi": "add",
    "arith.subi": "sub",
    "arith.muli": "mul",
    "arith.andi": "and",
    "arith.ori": "or",
    "arith.xori": "xor",
}
_SHIFT = {"arith.shli": "shl", "arith.shrsi": "ashr", "arith.shrui": "lshr"}
_DIVIDE = {
    "arith.divsi": "sdiv",
    "arith.divui": "udiv",
    "arith.remsi": "srem",
    "arith.remui": "urem",
}
_FLOAT = {
    "arith.addf": "fadd",
    "arith.subf": "fsub",
    "arith.mulf": "fmul",
    "arith.divf": "fdiv",
    "tt.precise_divf": "fdiv",
}
_EXTREME = {
    "arith.maxsi": "smax",
    "arith.minsi": "smin",
    "arith.maxui": "umax",
    "arith.minui": "umin",
    "arith.maxnumf": "maxnum",
    "arith.minnumf": "minnum",
    "arith.maximumf": "maximum",
    "arith.minimumf": "minimum",
}
INTEGER_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
FLOAT_PREDICATES = (
    "false",
    "oeq",
    "ogt",
    "oge",
    "olt",
    "ole",
    "one",
    "ord",
    "ueq",
    "ugt",
    "uge",
    "ult",
    "ule",
    "une",
    "uno",
    "true",
)


def in_float(f: Lowering, values: list[Value], compute: Elementwise, operation: Operation) -> Value:
    """Computes 16-bit floats in single precision and rounds the result back."""
    narrow = next((v.type for v in values if v.type.scalar in ("half", "bfloat")), None)
    wide = [widen(f, value) for value in values]
    result = compute(f, operation, wide)
    if narrow is not None and result.type.scalar == "float":
        return narrowed(f, result, narrow.scalar)
    return result


def widen(f: Lowering, value: Value) -> Value:
    if value.type.scalar in ("half", "bfloat"):
        return narrowed(f, value, "float")
    return value


def narrowed(f: Lowering, value: Value, scalar: str) -> Value:
    from triton_cpu.math.casts import convert

    # Not by the instruction for it: that flushes subnormal numbers to zero.
    return convert(f.e, value, scalar)


# -- integers --------------------------------------------------------------------------------------


def _fold(op: str, a: Value, b: Value) -> int | None:
    if a.constant is None or b.constant is None or a.type.is_float:
        return None
    x, y = int(a.constant), int(b.constant)
    results = {"add": x + y, "sub": x - y, "mul": x * y, "and": x & y, "or": x | y, "xor": x ^ y}
    return wrap(results[op], a.type.bits)


@elementwise(*_INTEGER)
def _integer(f: Lowering, operation: Operation, v: list[Value]) -> Value:
    op = _INTEGER[operation.name]
    folded = _fold(op, v[0], v[1])
    if folded is not None:
        return f.e.const(v[0].type, folded)
    if op == "add":
        return f.e.add(v[0], v[1])
    if op == "mul":
        return f.e.mul(v[0], v[1])
    return f.e.binary(op, v[0], v[1])


@elementwise(*_SHIFT)
def _shift(f: Lowering, operation: Operation, v: list[Value]) -> Value:
    # A shift by the width or more is poison to LLVM; here it gives 0, or the sign.
    op, bits = _SHIFT[operation.name], v[0].type.bits
    if v[1].constant is not None and 0 <= int(v[1].constant) < bits:
        return f.e.binary(op, v[0], v[1])
    fits = f.e.compare("ult", v[1], f.e.const(v[1].type, bits))
    if op == "ashr":
        most = f.e.const(v[1].type, bits - 1)
        return f.e.binary(op, v[0], f.e.select(fits, v[1], most))
    amount = f.e.select(fits, v[1], f.e.const(v[1].type, 0))
    return f.e.select(fits, f.e.binary(op, v[0], amount), f.e.const(v[0].type, 0))


@elementwise(*_DIVIDE)
def _divide(f: Lowering, operation: Operation, v: list[Value]) -> Value:
    # Lanes that a mask leaves out hold anything, and the CPU traps on these divisors.
    op, e = _DIVIDE[operation.name], f.e
    a, b = v
    if b.constant is not None and int(b.constant) not in (0, -1):
        if a.constant is not None and not a.type.lanes:
            x, y = int(a.constant), int(b.constant)
            if op in ("udiv", "urem"):
                x, y = x % (1 << a.type.bits), y % (1 << a.type.bits)
            quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
            number = quotient if op.endswith("div") else x - quotient * y
            return e.const(a.type, wrap(number, a.type.bits))
        return e.binary(op, a, b)
    one = e.const(b.type, 1)
    bad = e.compare("eq", b, e.const(b.type, 0))
    if op in ("sdiv", "srem"):
        lowest = e.const(a.type, wrap(1 << (a.type.bits - 1), a.type.bits))
        overflow = e.binary(
            "and", e.compare("eq", a, lowest), e.compare("eq", b, e.const(b.type, -1))
        )
        bad = e.binary("or", bad, overflow)
    return e.binary(op, a, e.select(bad, one, b))


@elementwise("arith.cmpi")
def _compare_integers(f: Lowering, operation: Operation, v: list[Value]) -> Value:
    predicate = INTEGER_PREDICATES[operation.integer("predicate")]
    a, b = v
    if a.constant is not None and b.constant is not None:
        mask = (1 << a.type.bits) - 1
        x, y = int(a.constant), int(b.constant)
        if predicate.startswith("u"):
            x, y = x & mask, y & mask
        table = {"eq": x == y, "ne": x != y, "lt": x < y, "le": x <= y, "gt": x > y, "ge": x >= y}
        return f.e.const(a.type.of("i1"), table[predicate[-2:]])
    return f.e.compare(predicate, a, b)


@elementwise("tt.mulhiui")
def _multiply_high(f: Lowering, operation: Operation, v: list[Value]) -> Value:
    bits = v[0].type.bits
    wide = f"i{2 * bits}"
    product = f.e.binary("mul", f.e.cast("zext", v[0], wide), f.e.cast("zext", v[1], wide))
    high = f.e.binary("lshr", product, f.e.const(product.type, bits))
    return f.e.cast("trunc", high, f"i{bits}")


@elementwise("math.absi")
def _absolute_integer(f: Lowering, operation: Operation, v: list[Value]) -> Value:
    kind = v[0].type
    return f.e.call(f"llvm.abs.{kind.suffix}", kind, [v[0], f.e.const(I1, 0)])


@elementwise("math.ctpop")
def _population(f: Lowering, operation: Operation, v: list[Value]) -> Value:
    return f.e.intrinsic("ctpop", v)


# -- floats ----------------------------------------------------------------------------------------


@elementwise(*_FLOAT)
def _float(f: Lowering, operation: Operation, v: list[Value]) -> Value:
    def compute(f: Lowering, operation: Operation, w: list[Value]) -> Value:
        return f.e.binary(_FLOAT[operation.name], w[0], w[1])

    return in_float(f, v, compute, operation)


@elementwise("arith.remf")
def _remainder(f: Lowering, operation: Operation, v: list[Value]) -> Value:
    from triton_cpu.math import FUNCTIONS

    def compute(f: Lowering, operation: Operation, w: list[Value]) -> Value:
        if "arith.remf" in FUNCTIONS:
            return FUNCTIONS["arith.remf"](f.e, w)
        name = "fmod" if w[0].type.scalar == "double" else "fmodf"
        return f.e.each_lane(w, lambda x: f.e.call(name, x[0].type, x))

    return in_float(f, v, compute, operation)


@elementwise(*_EXTREME)
def _extreme(f: Lowering, operation: Operation, v: list[Value]) -> Value:
    if not v[0].type.is_float:
        return f.e.intrinsic(_EXTREME[operation.name], v)

    def compute(f: Lowering, operation: Operation, w: list[Value]) -> Value:
        return f.e.intrinsic(_EXTREME[operation.name], w)

    return in_float(f, v, compute, operation)


@elementwise("tt.clampf")
def _clamp(f: Lowering, operation: Operation, v: list[Value]) -> Value:
    every = operation.integer("propagateNan", 0) == 0xFFFF

    def compute(f: Lowering, operation: Operation, w: list[Value]) -> Value:
        upper, lower = ("maximum", "minimum") if every else ("maxnum", "minnum")
        return f.e.intrinsic(lower, [f.e.intrinsic(upper, [w[0], w[1]]), w[2]])

    return in_float(f, v, compute, operation)


@elementwise("arith.negf")
def _negate(f: Lowering, operation: Operation, v: list[Value]) -> Value:
    if v[0].type.scalar == "bfloat":
        bits = f.e.bitcast(v[0], v[0].type.of("i16"))
        flipped = f.e.binary("xor", bits, f.e.const(bits.type, -0x8000))
        return f.e.bitcast(flipped, v[0].type)
    return f.e.value(v[0].type, f"fneg {v[0].type} {v[0].text}")


@elementwise("arith.cmpf")
def _compare_floats(f: Lowering, operation: Operation, v: list[Value]) -> Value:
    predicate = FLOAT_PREDICATES[operation.integer("predicate")]
    return f.e.compare(predicate, widen(f, v[0]), widen(f, v[1]))


@elementwise("arith.select")
def _select(f: Lowering, operation: Operation, v: list[Value]) -> Value:
    if v[1].type.scalar in ("half", "bfloat"):
        # As integers: LLVM widens and rounds floats of this size on many CPUs.
        bits = [f.e.bitcast(x, x.type.of("i16")) for x in v[1:]]
        return f.e.bitcast(f.e.select(v[0], *bits), v[1].type)
    return f.e.select(v[0], v[1], v[2])


# -- casts -----------------------------------------------------------------------------------------


@elementwise("arith.extsi", "arith.extui", "arith.trunci", "arith.index_cast", "arith.index_castui")
def _resize(f: Lowering, operation: Operation, v: list[Value]) -> Value:
    signed = operation.name not in ("arith.extui", "arith.index_castui")
    return f.e.resize(v[0], operation.result_types[0].scalar.scalar, signed)


@elementwise("arith.extf", "arith.truncf", "tt.fp_to_fp")
def _float_cast(f: Lowering, operation: Operation, v: list[Value]) -> Value:
    from triton_cpu.math.casts import convert, from_fp8, to_fp8

    source, target = operation.operand_types[0], operation.result_types[0]
    rounding = "rtz" if operation.integer("rounding", 1) == 0 else "rtne"
    if operation.name == "arith.truncf" and operation.integer("roundingmode", 0) == 3:
        rounding = "rtz"
    value = v[0]
    if source.fp8:
        middle = "float" if target.fp8 else target.scalar.scalar
        value = from_fp8(f.e, value, source.fp8, middle)
    if target.fp8:
        return to_fp8(f.e, value, target.fp8, rounding)
    return convert(f.e, value, target.scalar.scalar, rounding=rounding)


@elementwise("arith.sitofp", "arith.uitofp")
def _to_float(f: Lowering, operation: Operation, v: list[Value]) -> Value:
    target = operation.result_types[0].scalar.scalar
    op = operation.name.removeprefix("arith.")
    if target in ("half", "bfloat"):
        # Through double where single precision would round once more.
        middle = "double" if v[0].type.bits > 24 else "float"
        return narrowed(f, f.e.cast(op, v[0], middle), target)
    return f.e.cast(op, v[0], target)


@elementwise("arith.fptosi", "arith.fptoui")
def _to_integer(f: Lowering, operation: Operation, v: list[Value]) -> Value:
    target = operation.result_types[0].scalar
    op = "fptosi.sat" if operation.name == "arith.fptosi" else "fptoui.sat"
    value = widen(f, v[0])
    to = value.type.of(target.scalar)
    return f.e.call(f"llvm.{op}.{to.suffix}.{value.type.suffix}", to, [value])


@elementwise("tt.bitcast", "arith.bitcast", "tt.ptr_to_int", "tt.int_to_ptr")
def _bitcast(f: Lowering, operation: Operation, v: list[Value]) -> Value:
    to = v[0].type.of(operation.result_types[0].scalar.scalar)
    if v[0].type == to:
        return v[0]
    if v[0].type.is_pointer:
        return f.e.resize(f.e.cast("ptrtoint", v[0], "i64"), to.scalar)
    if to.is_pointer:
        return f.e.cast("inttoptr", v[0], "ptr")
    return f.e.bitcast(v[0], to)


# -- mathematical functions ------------------------------------------------------------------------

_INTRINSICS = {
    "math.sqrt": "sqrt",
    "tt.precise_sqrt": "sqrt",
    "math.absf": "fabs",
    "math.floor": "floor",
    "math.ceil": "ceil",
    "math.trunc": "trunc",
    "math.roundeven": "roundeven",
    "math.fma": "fma",
    "math.copysign": "copysign",
}
_LIBM = (
    "math.exp",
    "math.exp2",
    "math.expm1",
    "math.log",
    "math.log2",
    "math.log10",
    "math.log1p",
    "math.sin",
    "math.cos",
    "math.tan",
    "math.asin",
    "math.acos",
    "math.atan",
    "math.atan2",
    "math.sinh",
    "math.cosh",
    "math.tanh",
    "math.erf",
    "math.erfc",
    "math.rsqrt",
    "math.cbrt",
    "math.powf",
    "math.round",
)
_C_NAMES = {"powf": "pow"}


def call_libm(f: Lowering, name: str, v: list[Value]) -> Value:
    """Lane by lane through the C library; ``name`` is its double form."""
    if v[0].type.scalar == "float":
        name += "f"
    return f.e.each_lane(v, lambda x: f.e.call(name, x[0].type, x))


@elementwise(*_INTRINSICS, *_LIBM)
def _function(f: Lowering, operation: Operation, v: list[Value]) -> Value:
    from triton_cpu.math import FUNCTIONS

    def compute(f: Lowering, operation: Operation, w: list[Value]) -> Value:
        name = operation.name
        if name == "math.absf" and w[0].type.is_int:
            return f.e.binary("and", w[0], f.e.const(w[0].type, 0x7F))
        if name in _INTRINSICS:
            return f.e.intrinsic(_INTRINSICS[name], w)
        if name in FUNCTIONS:
            return FUNCTIONS[name](f.e, w)
        if name == "math.rsqrt":
            root = f.e.intrinsic("sqrt", w)
            return f.e.binary("fdiv", f.e.const(root.type, 1.0), root)
        short = name.removeprefix("math.")
        return call_libm(f, _C_NAMES.get(short, short), w)

    return in_float(f, v, compute, operation)


@elementwise("tt.extern_elementwise")
def _external(f: Lowering, operation: Operation, v: list[Value]) -> Value:
    from triton_cpu.math import FUNCTIONS

    symbol = operation.text("symbol")
    if symbol in FUNCTIONS:
        return FUNCTIONS[symbol](f.e, v)
    if not symbol or symbol.startswith("__nv_"):
        raise f.refuse(f"the library function {symbol or '(no name)'} has no CPU form")
    result = operation.result_types[0].scalar
    return f.e.each_lane(v, lambda x: f.e.call(symbol, result, x))


# -- tensors ---------------------------------------------------------------------------------------

_CHEAP_EXCEPT = {*_LIBM, *_DIVIDE, "tt.extern_elementwise", "arith.remf", "math.sqrt"}


def _linear(tensor: Tensor) -> Separable | None:
    """An index tensor in separable form; None where it has no such form without cost."""
    if isinstance(tensor, Separable):
        return tensor
    if isinstance(tensor, Splat):
        return Separable(tensor.shape, tensor.value, {})
    return None


def _varies_partly(tensor: Tensor) -> bool:
    real = {d for d, size in enumerate(tensor.shape) if size > 1}
    return tensor.deps < real


def separable(f: Lowering, operation: Operation, inputs: list[Tensor]) -> Tensor | None:
    """Integer arithmetic whose result stays a base, strides and one-dimensional functions."""
    e, name = f.e, operation.name
    if name == "arith.extsi":
        only = inputs[0]
        if not isinstance(only, Separable) or only.functions or only.type == I1:
            return None
        if any(
            stride.constant is not None and abs(int(stride.constant)) >= HASH_MULTIPLIER
            for stride in only.strides.values()
        ):
            return None
        to = operation.result_types[0].scalar.scalar
        strides = {d: e.resize(stride, to) for d, stride in only.strides.items()}
        return Separable(only.shape, e.resize(only.base, to), strides)
    if name not in ("arith.addi", "arith.subi", "arith.muli") or inputs[0].type == I1:
        return None
    a, b = _linear(inputs[0]), _linear(inputs[1])
    if name == "arith.addi" and (a is None) != (b is None):
        known, other = (a, inputs[1]) if a is not None else (b, inputs[0])
        assert known is not None
        if isinstance(other, Pending) or not _varies_partly(other):
            return None
        f.share(other)
        return Separable(known.shape, known.base, known.strides, (*known.functions, other))
    if a is None or b is None:
        partly = all(_varies_partly(x) and not isinstance(x, Pending) for x in inputs)
        if name != "arith.addi" or not partly:
            return None
        for x in inputs:
            f.share(x)
        return Separable(inputs[0].shape, e.const(inputs[0].type, 0), {}, tuple(inputs))
    if name == "arith.muli":
        if a.strides or a.functions:
            a, b = b, a
        if a.strides or a.functions or b.functions:
            return None
        strides = {d: e.mul(stride, a.base) for d, stride in b.strides.items()}
        return Separable(b.shape, e.mul(a.base, b.base), strides)
    strides = dict(a.strides)
    if name == "arith.addi":
        for d, stride in b.strides.items():
            strides[d] = e.add(strides[d], stride) if d in strides else stride
        base = e.add(a.base, b.base)
        return Separable(a.shape, base, strides, (*a.functions, *b.functions))
    if b.functions:
        return None
    zero = e.const(b.type, 0)
    for d, stride in b.strides.items():
        strides[d] = _subtract(f, strides.get(d, zero), stride)
    return Separable(a.shape, _subtract(f, a.base, b.base), strides, a.functions)


def _subtract(f: Lowering, a: Value, b: Value) -> Value:
    if b.constant == 0:
        return a
    folded = _fold("sub", a, b)
    return f.e.const(a.type, folded) if folded is not None else f.e.binary("sub", a, b)


def _is_cheap(tensor: Tensor) -> bool:
    if isinstance(tensor, View):
        return _is_cheap(tensor.source)
    if isinstance(tensor, Lazy):
        return tensor.depth < LAZY_DEPTH
    return isinstance(tensor, (Splat, Separable))


def _as_tensor(f: Lowering, name: str, shape: tuple[int, ...]) -> Tensor:
    """An operand; a scalar one (the condition of a select) counts for every element."""
    value = f.get(name)
    return Splat(shape, value) if isinstance(value, Value) else value


def lower_elementwise(f: Lowering, operation: Operation) -> None:
    """The one handler of every element-wise operation."""
    kind = operation.result_types[0]
    name = operation.results[0]
    compute = ELEMENTWISE[operation.name]
    if kind.shape is None:
        f.bind(name, compute(f, operation, [f.scalar(x) for x in operation.operands]))
        return
    inputs = [_as_tensor(f, x, kind.shape) for x in operation.operands]
    if all(isinstance(tensor, Splat) for tensor in inputs):
        scalars = [tensor.value for tensor in inputs if isinstance(tensor, Splat)]
        f.bind(name, Splat(kind.shape, compute(f, operation, scalars)))
        return
    linear = separable(f, operation, inputs)
    if linear is not None:
        f.bind(name, linear)
        return

    def rule(f: Lowering, place: Place) -> Value:
        return compute(f, operation, [tensor.at(f, place) for tensor in inputs])

    if operation.name not in _CHEAP_EXCEPT and all(_is_cheap(tensor) for tensor in inputs):
        f.bind(name, Lazy(kind.shape, kind.scalar, rule, inputs))
        return
    pending = Pending(operation, kind.shape, kind.scalar, rule)
    add_pending(f, pending)
    f.bind(name, pending)


def install() -> None:
    """Gives every element-wise operation its handler."""
    for name in ELEMENTWISE:
        HANDLERS.setdefault(name, lower_elementwise)
