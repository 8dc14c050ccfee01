# SPDX-License-Identifier: Apache-2.0
"""Placing and undoing overrides: what is bound, in which order, and what is back afterwards."""

from __future__ import annotations

import sys
import threading
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st


def test_bare_override_binds_the_very_object(gems, dynamic):
    original = gems.softmax
    candidate = lambda x: ("candidate", x)  # noqa: E731
    registry = dynamic.DynamicOpOverride()
    assert registry.override("softmax", candidate) is True
    assert gems.softmax is candidate
    assert registry.get_override("softmax") is candidate
    assert registry.get_override("neg") is None
    assert registry.list_overrides() == {"flag_gems.softmax": candidate}
    assert registry.call_counts() == {}
    assert registry.restore("softmax") is True
    assert gems.softmax is original
    assert registry.restore("softmax") is False
    assert registry.list_overrides() == {}


def test_context_restores_when_the_body_raises(gems, dynamic):
    originals = dict(vars(gems))
    with pytest.raises(KeyError, match="body"), dynamic.DynamicOpOverride() as registry:  # noqa: PT012
        registry.override("softmax", print)
        registry.override("brand_new", print)
        raise KeyError("body")
    assert dict(vars(gems)) == originals


def test_body_exception_is_not_replaced_by_unused(gems, dynamic, write):
    path = write("c.py", "def softmax(x): return x\n")
    with pytest.raises(KeyError, match="body"), dynamic.DynamicOpOverride() as registry:  # noqa: PT012
        registry.override_from_file("softmax", path)
        raise KeyError("body")


def test_injected_operator_is_removed_again(gems, dynamic):
    registry = dynamic.DynamicOpOverride()
    registry.override("sparse_csr_tensor", lambda: 7)
    assert gems.sparse_csr_tensor() == 7
    registry.restore_all()
    assert "sparse_csr_tensor" not in vars(gems)


def test_none_is_a_value_to_restore(gems, dynamic):
    gems.not_on_this_vendor = None
    with dynamic.DynamicOpOverride() as registry:
        registry.override("not_on_this_vendor", lambda: 7)
        assert gems.not_on_this_vendor() == 7
    assert vars(gems)["not_on_this_vendor"] is None


def test_lazy_attribute_does_not_become_a_stored_one(gems, dynamic):
    gems.__getattr__ = lambda name: f"lazy {name}"
    with dynamic.DynamicOpOverride() as registry:
        registry.override("gelu", print)
        assert gems.gelu is print
    assert gems.gelu == "lazy gelu"
    assert "gelu" not in vars(gems)


def test_second_override_replaces_the_first_and_keeps_the_original(gems, dynamic):
    original = gems.softmax
    registry = dynamic.DynamicOpOverride()
    registry.override("softmax", print)
    registry.override("softmax", repr)
    assert gems.softmax is repr
    registry.restore_all()
    assert gems.softmax is original


def test_restore_goes_on_when_one_attribute_cannot_be_restored(gems, dynamic):
    class Stubborn(ModuleType):
        frozen = False

        def __setattr__(self, name, value):
            if name == "neg" and type(self).frozen:
                raise PermissionError("neg is frozen")
            super().__setattr__(name, value)

    original = gems.softmax
    gems.__class__ = Stubborn
    registry = dynamic.DynamicOpOverride()
    registry.override("softmax", print)
    registry.override("neg", print)
    Stubborn.frozen = True
    with pytest.raises(dynamic.RestoreError, match=r"flag_gems\.neg: neg is frozen") as caught:
        registry.restore_all()
    assert isinstance(caught.value.__cause__, PermissionError)
    assert gems.softmax is original
    assert registry.list_overrides() == {}


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_any_interleaving_of_registries_ends_with_the_original(data):
    """Model: the attribute is the latest override not yet restored by its registry, or original."""
    dynamic = sys.modules["_registry_for_hypothesis"]
    package = sys.modules["flag_gems"]
    original = package.softmax
    registries = [dynamic.DynamicOpOverride() for _ in range(3)]
    active: list[tuple[int, object]] = []
    steps = data.draw(st.lists(st.tuples(st.integers(0, 2), st.booleans()), max_size=12))
    for who, placing in steps:
        active = [entry for entry in active if entry[0] != who]
        if placing:
            candidate = lambda: None  # noqa: E731
            registries[who].override("softmax", candidate)
            active.append((who, candidate))
        else:
            registries[who].restore("softmax")
        assert package.softmax is (active[-1][1] if active else original)
    for who in data.draw(st.permutations(range(3))):
        registries[who].restore_all()
    assert package.softmax is original


@pytest.fixture(autouse=True)
def _module_for_hypothesis(dynamic, monkeypatch):
    # Hypothesis does not reset function-scoped fixtures between examples; it finds this one here.
    monkeypatch.setitem(sys.modules, "_registry_for_hypothesis", dynamic)


def test_a_restores_before_b_does_not_resurrect_a(gems, dynamic):
    original = gems.softmax
    a, b = dynamic.DynamicOpOverride(), dynamic.DynamicOpOverride()
    a.override("softmax", print)
    b.override("softmax", repr)
    a.restore_all()
    assert gems.softmax is repr
    b.restore_all()
    assert gems.softmax is original


def test_restore_all_touches_only_its_own(gems, dynamic):
    a, b = dynamic.DynamicOpOverride(), dynamic.DynamicOpOverride()
    a.override("softmax", print)
    b.override("neg", repr)
    a.restore_all()
    assert gems.neg is repr
    b.restore_all()


def test_override_from_another_thread_is_seen_here(gems, dynamic):
    registry = dynamic.DynamicOpOverride()
    thread = threading.Thread(target=registry.override, args=("softmax", print))
    thread.start()
    thread.join()
    assert gems.softmax is print
    registry.restore_all()


@pytest.mark.parametrize("name", ["", "soft max", "1st", "a.b", "__path__", None, 3])
def test_impossible_names_are_refused(dynamic, name):
    with pytest.raises(dynamic.InvalidOperatorNameError) as caught:
        dynamic.DynamicOpOverride().override(name, print)
    assert isinstance(caught.value, ValueError)
    assert "\n" not in str(caught.value)


def test_submodules_are_not_operators(gems, dynamic):
    gems.runtime = ModuleType("flag_gems.runtime")
    with pytest.raises(dynamic.InvalidOperatorNameError, match="submodule"):
        dynamic.DynamicOpOverride().override("runtime", print)


@pytest.mark.parametrize("value", [(), "cpu", dict])
def test_what_is_no_operator_is_refused(gems, dynamic, write, value):
    gems.vendor_name = value
    with pytest.raises(dynamic.InvalidOperatorNameError, match=r"vendor_name.*no operator") as e:
        dynamic.DynamicOpOverride().override("vendor_name", print)
    assert "\n" not in str(e.value)
    with pytest.raises(dynamic.InvalidOperatorNameError):
        dynamic.DynamicOpOverride().override_from_file(
            "vendor_name", write("c.py", "def vendor_name(): pass\n")
        )
    assert gems.vendor_name is value


def test_functions_that_the_catalogue_lacks_can_be_replaced(gems, dynamic):
    gems.gelu = original = lambda x: ("gems", x)
    with dynamic.DynamicOpOverride() as registry:
        registry.override("gelu", print)
        assert gems.gelu is print
    assert gems.gelu is original


def test_what_an_override_put_there_can_be_replaced_by_another(gems, dynamic):
    class Kernel:
        def __call__(self, x):
            return x

    a, b = dynamic.DynamicOpOverride(), dynamic.DynamicOpOverride()
    a.override("brand_new", Kernel)
    b.override("brand_new", Kernel())
    b.restore_all()
    assert gems.brand_new is Kernel
    a.restore_all()
    assert not hasattr(gems, "brand_new")


def test_not_callable_is_refused_and_nothing_changes(gems, dynamic):
    original = gems.softmax
    with pytest.raises(TypeError, match=r"'softmax'.*int is not callable"):
        dynamic.DynamicOpOverride().override("softmax", 3)
    assert gems.softmax is original


def test_full_name_is_accepted(gems, dynamic):
    with dynamic.DynamicOpOverride() as registry:
        registry.override("flag_gems.softmax", print)
        assert gems.softmax is print
        assert registry.get_override("flag_gems.softmax") is print
