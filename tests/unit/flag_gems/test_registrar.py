# SPDX-License-Identifier: Apache-2.0
"""ATen keys are bound to what flag_gems holds when they are registered."""

from __future__ import annotations

import pytest
import torch

import flag_gems

X = torch.arange(6.0).view(2, 3)


def _entries(*keys: str):
    return [entry for entry in flag_gems._FULL_CONFIG if entry[0] in keys]


@pytest.fixture
def x():
    return X.to(flag_gems.device)


def _registered(*keys: str) -> flag_gems.GeneralOpRegistrar:
    return flag_gems.GeneralOpRegistrar(_entries(*keys)).register()


def test_key_outside_the_full_config_is_refused(x):
    registrar = flag_gems.GeneralOpRegistrar([*_entries("abs"), ("lgamma", torch.lgamma)])
    with pytest.raises(ValueError, match=r"aten::lgamma is not in flag_gems\._FULL_CONFIG"):
        registrar.register()
    assert registrar.keys == ()


def test_override_made_before_is_used_and_one_made_after_is_not(monkeypatch, x):
    seen = []

    def first(input, dim=-1, dtype=None):
        seen.append("first")
        return torch.softmax(input, dim, dtype)

    monkeypatch.setattr(flag_gems, "softmax", first)
    registrar = _registered("_softmax")
    try:
        monkeypatch.setattr(flag_gems, "softmax", lambda *args: pytest.fail("bound too late"))
        res = torch.softmax(x, -1)
    finally:
        registrar.unregister()
    # The candidate is written with torch.softmax: inside itself it reaches torch's own kernel.
    assert seen == ["first"]
    torch.testing.assert_close(res, torch.softmax(x, -1))


def test_override_reaches_its_own_overload_only(monkeypatch, x):
    monkeypatch.setattr(flag_gems, "softmax", lambda input, dim=-1, dtype=None: input + 100)
    registrar = _registered("_softmax", "_softmax.out")
    assert registrar.resolve("_softmax") is flag_gems.softmax
    assert registrar.resolve("_softmax.out").__name__ == "softmax_out"
    out = torch.empty_like(x)
    try:
        res = torch.softmax(x, -1)
        torch.ops.aten._softmax.out(x, -1, False, out=out)
    finally:
        registrar.unregister()
    torch.testing.assert_close(res, x + 100)
    assert out.data_ptr() != res.data_ptr()


def test_half_to_float_becomes_a_dtype(monkeypatch, x):
    given = []

    def candidate(input, dim=-1, dtype=None):
        given.append((dim, dtype))
        return input.to(dtype or input.dtype)

    monkeypatch.setattr(flag_gems, "softmax", candidate)
    registrar = _registered("_softmax")
    try:
        torch.ops.aten._softmax(x, 0, False)
        torch.ops.aten._softmax(x.half(), 1, True)
    finally:
        registrar.unregister()
    assert given == [(0, None), (1, torch.float32)]


def test_attribute_that_is_not_callable_is_refused(monkeypatch):
    monkeypatch.setattr(flag_gems, "softmax", None)
    with pytest.raises(ValueError, match=r"flag_gems\.softmax.*not callable"):
        _registered("_softmax")


def test_condition_false_leaves_the_key_alone():
    entries = [(*_entries("abs")[0], lambda: False), (*_entries("neg")[0], lambda: True)]
    registrar = flag_gems.GeneralOpRegistrar(entries).register()
    try:
        assert registrar.keys == ("neg",)
    finally:
        registrar.unregister()


def test_library_of_the_caller_stays_the_callers(monkeypatch, x):
    seen = []
    monkeypatch.setattr(flag_gems, "neg", lambda input: seen.append("neg") or input.clone())
    lib = torch.library.Library("aten", "IMPL")
    registrar = flag_gems.GeneralOpRegistrar(_entries("neg"), lib).register()
    registrar.unregister()
    torch.neg(x)
    assert seen == ["neg"]
    lib._destroy()
    torch.testing.assert_close(torch.neg(x), 0 - x)
    assert seen == ["neg"]


def test_registering_twice_is_refused():
    registrar = _registered("abs")
    try:
        with pytest.raises(RuntimeError, match="already registered"):
            registrar.register()
    finally:
        registrar.unregister()
