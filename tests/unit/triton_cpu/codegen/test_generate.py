# SPDX-License-Identifier: Apache-2.0
"""Generated IR: LLVM accepts it, its promises about memory hold, and refusals say where."""

import llvmlite.binding as llvm
import pytest

from triton_cpu.codegen import CodegenError, CodegenOptions, Generated, generate
from triton_cpu.codegen.constants import fp8_literal, literal
from triton_cpu.llvm.emit import BF16, F16, F32, I8, Type


def kernel(body: str, arguments: str = "%p: !tt.ptr<f32>, %n: i32") -> str:
    return f"""
#loc = loc("kernel.py":12:3)
"builtin.module"() ({{
  "tt.func"() <{{sym_name = "k", sym_visibility = "public"}}> ({{
  ^bb0({arguments}):
{body}
    "tt.return"() : () -> ()
  }}) : () -> ()
}}) : () -> ()
"""


def verified(text: str, options: CodegenOptions | None = None) -> Generated:
    made = generate(text, options or CodegenOptions())
    module = llvm.parse_assembly(made.llvm_ir)
    module.verify()
    assert module.get_function(made.name).name == "k"
    return made


def softmax_like(size: int) -> str:
    t = f"tensor<{size}x"
    return kernel(f"""
    %r = "tt.make_range"() <{{end = {size} : i32, start = 0 : i32}}> : () -> {t}i32>
    %s = "tt.splat"(%n) : (i32) -> {t}i32>
    %m = "arith.cmpi"(%r, %s) <{{predicate = 2 : i64}}> : ({t}i32>, {t}i32>) -> {t}i1>
    %b = "tt.splat"(%p) : (!tt.ptr<f32>) -> {t}!tt.ptr<f32>>
    %a = "tt.addptr"(%b, %r) : ({t}!tt.ptr<f32>>, {t}i32>) -> {t}!tt.ptr<f32>>
    %x = "tt.load"(%a, %m) : ({t}!tt.ptr<f32>>, {t}i1>) -> {t}f32>
    %u = "tt.reduce"(%x) <{{axis = 0 : i32}}> ({{
    ^bb0(%c: f32, %d: f32):
      %e = "arith.addf"(%c, %d) : (f32, f32) -> f32
      "tt.reduce.return"(%e) : (f32) -> ()
    }}) : ({t}f32>) -> f32
    %v = "tt.splat"(%u) : (f32) -> {t}f32>
    %w = "arith.divf"(%x, %v) : ({t}f32>, {t}f32>) -> {t}f32>
    "tt.store"(%a, %w, %m) : ({t}!tt.ptr<f32>>, {t}f32>, {t}i1>) -> ()""")


@pytest.mark.parametrize("vector_bytes", [32, 64])
@pytest.mark.parametrize("size", [1, 16, 128, 4096])
def test_llvm_accepts_a_fused_kernel(size: int, vector_bytes: int) -> None:
    made = verified(softmax_like(size), CodegenOptions(vector_bytes=vector_bytes))
    assert made.externals == ()


def test_the_code_does_not_grow_with_the_block() -> None:
    small, large = (len(verified(softmax_like(size)).llvm_ir) for size in (4096, 65536))
    assert abs(large - small) < 200


def test_only_what_is_read_later_takes_memory() -> None:
    """The loaded row is read again after the sum; nothing else of its size is kept."""
    assert verified(softmax_like(4096)).scratch_bytes == 4 * 4096
    assert verified(softmax_like(256)).scratch_bytes == 0


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (
            '    %r = "tt.elementwise_inline_asm"(%n) <{asm_string = "mov"}> : (i32) -> i32'
            " loc(#loc)",
            "inline assembly",
        ),
        ('    "tt.unheard_of"(%n) : (i32) -> () loc(#loc)', "tt.unheard_of"),
        (
            '    %r = "tt.extern_elementwise"(%n) <{symbol = "__nv_unheard_of"}> : (i32) -> i32'
            " loc(#loc)",
            "__nv_unheard_of",
        ),
    ],
)
def test_refusals_name_kernel_and_line(body: str, reason: str) -> None:
    with pytest.raises(CodegenError) as caught:
        generate(kernel(body), CodegenOptions())
    assert caught.value.kernel == "k"
    assert caught.value.location == "kernel.py:12"
    assert reason in caught.value.reason


def test_an_argument_without_a_machine_type_is_refused() -> None:
    with pytest.raises(CodegenError, match="argument 0"):
        generate(kernel("", "%d: !tt.tensordesc<tensor<8x8xf32>>"), CodegenOptions())


def test_an_unused_assert_writes_nothing_when_debug_is_off() -> None:
    text = kernel('    "tt.assert"(%n) <{message = "no"}> : (i32) -> ()')
    assert "triton_cpu_fail" in verified(text).externals
    assert verified(text, CodegenOptions(debug=False)).externals == ()


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("true", Type("i1"), 1),
        ("-7", Type("i32"), -7),
        ("4294967295", Type("i32"), -1),
        ("0xFF800000", F32, float("-inf")),
        ("0x3C00", F16, 1.0),
        ("0x3F80", BF16, 1.0),
        ("2.500000e+00", F32, 2.5),
    ],
)
def test_literals(text: str, kind: Type, value: float) -> None:
    assert literal(text, kind) == value


@pytest.mark.parametrize(
    ("text", "element", "code"),
    [
        ("0.0", "f8E5M2", 0x00),
        ("-0.0", "f8E5M2", 0x80),
        ("1.0", "f8E5M2", 0x3C),
        ("1.0", "f8E4M3FN", 0x38),
        ("-448.0", "f8E4M3FN", 0xFE),
        ("0x7F", "f8E4M3FN", 0x7F),
    ],
)
def test_eight_bit_float_literals(text: str, element: str, code: int) -> None:
    assert fp8_literal(text, element) & 0xFF == code
    assert -128 <= fp8_literal(text, element) < 1 << (I8.bits - 1)
