# SPDX-License-Identifier: Apache-2.0
"""Single parts of the inventory: hashes, layers, canonical text, pairing."""

from __future__ import annotations

import ast
import functools
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from bench_runner.inventory.pairing import pair
from bench_runner.inventory.probe import canonical
from bench_runner.inventory.probe.layers import unwrap
from bench_runner.inventory.probe.syntax import code_digest, file_facts
from bench_runner.inventory.records import DiscoveredTest, Source

NESTED = """def test_a(self):
    def inner(x):
        return x + 1
    self.check(inner, 'a b', 0x10)
"""
ASYNCHRONOUS = """async def test_b(self, *, n=3):
    async with self.lock:
        return [i for i in range(n)]
"""
MATCHING = """def test_c(self):
    match self.kind:
        case None:
            pass
        case _:
            raise ValueError(f'{self.kind!r}')
"""


def body(text: str) -> str:
    (facts,) = [f for (_, name), f in file_facts(text).functions.items() if name.startswith("test")]
    return facts.body


@given(st.sampled_from([NESTED, ASYNCHRONOUS, MATCHING]))
@settings(max_examples=6, deadline=None)
def test_a_body_has_one_hash_however_it_is_written(text: str) -> None:
    assert body(text) == body(ast.unparse(ast.parse(text)))
    assert body(text) == body("# first\n\n" + text.replace(":\n", ":  # why\n", 1))


def test_another_constant_is_another_body() -> None:
    assert body(NESTED) != body(NESTED.replace("0x10", "17"))
    assert body(NESTED) != body(NESTED.replace("x + 1", "x - 1"))


def test_code_of_nested_functions_has_no_addresses() -> None:
    def compiled() -> Any:
        space: dict[str, Any] = {}
        exec("def f():\n    def g():\n        return {1, 2} & {'a', 'b'}\n    return g\n", space)
        return space["f"].__code__

    first, second = compiled(), compiled()
    assert repr(first.co_consts) != repr(second.co_consts)
    assert code_digest(first) == code_digest(second)


def test_shadowed_definitions_are_seen_in_the_source() -> None:
    method = "    def test_{}(self): pass\n"
    text = "class A:\n" + "".join(map(method.format, "xyx"))
    facts = file_facts(text).classes["A"]
    assert facts.shadowed == ("test_x",)
    assert facts.defined == ("test_x", "test_y", "test_x")


def test_canonical_text_is_the_same_in_every_process() -> None:
    class Plain:
        def __init__(self) -> None:
            self.size = 3
            self.names = {"b", "a"}

    shown = canonical.text(Plain())
    assert shown.endswith("Plain names={'a', 'b'}, size=3>")
    assert "0x" not in canonical.text([object(), functools.partial(print, 1)])
    assert len(canonical.text("x" * 10_000)) == canonical.LONGEST


def test_a_bound_method_in_a_closure_is_followed() -> None:
    class Tests:
        def test_inner(self) -> None: ...

    def make(func: Any) -> Any:
        def fn(self: Any) -> None:
            func()

        fn.__name__ = "test_outer"
        return fn

    chain = unwrap(make(Tests().test_inner))
    assert [item.function.__code__.co_name for item in chain] == ["fn", "test_inner"]


def test_a_written_test_that_closes_over_a_helper_is_the_end() -> None:
    def helper() -> None: ...

    def test_x(self: Any) -> None:
        helper()

    assert [item.function for item in unwrap(test_x)] == [test_x]


def test_a_wrapper_that_wraps_itself_ends() -> None:
    def test_x(self: Any) -> None: ...

    test_x.__wrapped__ = test_x  # type: ignore[attr-defined]
    assert len(unwrap(test_x)) == 1


def made(name: str, body: str, found_as: str = "Tests") -> DiscoveredTest:
    return DiscoveredTest(
        id=f"t.py::{found_as}::{name}",
        file="t.py",
        module="t",
        found_as=found_as,
        name=name,
        base_name=name,
        found_by=("unittest",),
        source=Source(file="t.py", line=1, qualname=f"{found_as}.{name}", body=body),
    )


TESTS = st.lists(
    st.builds(
        made,
        st.sampled_from([f"test_{letter}" for letter in "abcdefg"]),
        st.sampled_from(["1", "2", "3"]),
        st.sampled_from(["Tests", "Others"]),
    ),
    unique_by=lambda test: test.id,
    max_size=10,
)


@given(TESTS, TESTS)
@settings(max_examples=60, deadline=None)
def test_pairing_loses_and_doubles_nothing(
    before: list[DiscoveredTest], after: list[DiscoveredTest]
) -> None:
    result = pair(before, after)
    pairs = [*result.same, *result.renamed]
    old = [a.id for a, _ in pairs] + [t.id for t in result.removed]
    new = [b.id for _, b in pairs] + [t.id for t in result.added]
    assert sorted(old) == sorted(test.id for test in before)
    assert sorted(new) == sorted(test.id for test in after)
    assert all(a.source.body == b.source.body for a, b in result.renamed)


def test_tests_that_look_alike_are_not_guessed() -> None:
    before = [made("test_a", "1"), made("test_b", "1")]
    after = [made("test_c", "1")]
    result = pair(before, after)
    assert len(result.removed) == 2
    assert [test.name for test in result.added] == ["test_c"]
