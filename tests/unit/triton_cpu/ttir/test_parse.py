# SPDX-License-Identifier: Apache-2.0
"""The reader of generic MLIR: what it must keep, and what it must refuse."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triton_cpu.ttir import ParseError, parse
from triton_cpu.ttir.parse import split_commas
from triton_cpu.ttir.types import parse_type

LOOP = """
#loc = loc("kernel.py":3:0)
#loc1 = loc(callsite(#loc2 at #loc))
#loc2 = loc("other.py":7:4)
"builtin.module"() ({
  "tt.func"() <{function_type = (!tt.ptr<f32>, i32) -> (), sym_name = "k", sym_visibility = "public"}> ({
  ^bb0(%x: !tt.ptr<f32> loc("x"(#loc)), %n: i32 loc("n"(#loc))):
    %0 = "arith.constant"() <{value = 0 : i32}> : () -> i32 loc(#loc)
    %1:2 = "scf.for"(%0, %n, %n, %0, %x) ({
    ^bb0(%i: i32 loc("i"(#loc)), %a: i32 loc(unknown), %p: !tt.ptr<f32> loc(unknown)):
      "scf.yield"(%i, %p) : (i32, !tt.ptr<f32>) -> () loc(#loc)
    }) {tt.flatten, tt.num_stages = 3 : i32} : (i32, i32, i32, i32, !tt.ptr<f32>) -> (i32, !tt.ptr<f32>) loc(#loc1)
    "tt.assert"(%1#0) <{message = "a \\22b\\22, {c"}> : (i32) -> () loc(#loc)
    "tt.return"() : () -> () loc(#loc)
  }) {noinline = false} : () -> () loc(#loc)
}) : () -> () loc(#loc)
"""  # noqa: E501


def test_a_loop_keeps_results_regions_attributes_and_places() -> None:
    kernel = parse(LOOP).entry
    constant, loop, check, end = kernel.blocks[0].operations
    assert (kernel.name, kernel.blocks[0].arguments) == ("k", ["%x", "%n"])
    assert constant.integer("value") == 0
    assert loop.results == ["%1#0", "%1#1"]
    assert [kind.element for kind in loop.result_types] == ["i32", "!tt.ptr<f32>"]
    assert loop.regions[0][0].arguments == ["%i", "%a", "%p"]
    assert loop.integer("tt.num_stages") == 3
    assert loop.flag("tt.flatten")
    assert not loop.flag("absent")
    assert loop.location == "other.py:7"
    assert check.text("message") == 'a "b", {c'
    assert end.name == "tt.return"
    assert kernel.uses["%1#0"] == [check]
    assert [use.name for use in kernel.uses["%x"]] == ["scf.for"]


def test_branches_name_their_blocks() -> None:
    text = LOOP.replace(
        '"tt.return"() : () -> () loc(#loc)\n',
        '"cf.cond_br"(%0, %n)[^bb1, ^bb2] <{operandSegmentSizes = array<i32: 1, 1, 0>}>'
        " : (i32, i32) -> ()\n  ^bb1(%q: i32):  // pred: ^bb0\n"
        '    "tt.return"() : () -> ()\n  ^bb2:\n    "tt.return"() : () -> ()\n',
    )
    entry, first, second = parse(text).entry.blocks
    assert entry.operations[-1].successors == ["^bb1", "^bb2"]
    assert entry.operations[-1].integers("operandSegmentSizes") == [1, 1, 0]
    assert (first.label, first.arguments, second.label) == ("^bb1", ["%q"], "^bb2")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "module {}",
        '"tt.func"() : () -> ()',
        LOOP[: len(LOOP) // 2],
        LOOP.replace('"scf', "scf"),
    ],
)
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(ParseError):
        parse(text)


@pytest.mark.parametrize(
    ("text", "shape", "scalar", "lanes"),
    [
        ("tensor<4x8xf32>", (4, 8), "float", 0),
        ("tensor<64x!tt.ptr<bf16>>", (64,), "ptr", 0),
        ("!tt.ptr<f32, 3>", None, "ptr", 0),
        ("index", None, "i64", 0),
        ("tensor<2xf8E4M3FN>", (2,), "i8", 0),
        ("i1", None, "i1", 0),
    ],
)
def test_types(text: str, shape: tuple[int, ...] | None, scalar: str, lanes: int) -> None:
    kind = parse_type(text)
    assert kind.shape == shape
    assert (kind.scalar.scalar, kind.scalar.lanes) == (scalar, lanes)


def test_pointees() -> None:
    assert parse_type("tensor<8x!tt.ptr<f16>>").pointee.element == "f16"
    assert parse_type("!tt.ptr<!tt.ptr<i8>>").pointee.element == "!tt.ptr<i8>"
    with pytest.raises(TypeError, match="not a pointer"):
        _ = parse_type("f32").pointee


PIECE = st.recursive(
    st.text("abc%:", min_size=1),
    lambda inner: st.builds("<{},{}>".format, inner, inner) | st.builds("({})".format, inner),
    max_leaves=6,
)


@given(st.lists(PIECE, min_size=1, max_size=5))
def test_commas_split_at_the_top_only(pieces: list[str]) -> None:
    assert split_commas(", ".join(pieces)) == pieces
