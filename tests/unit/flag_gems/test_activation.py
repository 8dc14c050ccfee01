# SPDX-License-Identifier: Apache-2.0
"""enable, only_enable and use_gems: what runs on Gems kernels, and when it stops."""

from __future__ import annotations

import logging

import pytest
import torch

import flag_gems
from flag_gems import runtime


@pytest.fixture
def x():
    return torch.arange(6.0, device=flag_gems.device).view(2, 3)


@pytest.fixture
def calls(monkeypatch):
    """Names of the replaced functions in the order of their calls."""
    seen = []
    for name in ("abs", "neg"):
        original = getattr(flag_gems, name)

        def traced(*args, _name=name, _original=original):
            seen.append(_name)
            return _original(*args)

        monkeypatch.setattr(flag_gems, name, traced)
    yield seen
    flag_gems.disable()


def _both(x):
    torch.abs(x)
    torch.neg(x)


def test_enable_registers_all_but_the_excluded(calls, x):
    registrar = flag_gems.enable(exclude=["neg"])
    _both(x)
    assert calls == ["abs"]
    assert "neg" not in registrar.keys
    assert "neg_" not in registrar.keys
    assert "_softmax.out" in registrar.keys


def test_unused_is_exclude(calls, x):
    flag_gems.enable(unused=["abs"])
    _both(x)
    assert calls == ["neg"]


def test_second_enable_replaces_the_first(calls, x):
    flag_gems.enable()
    flag_gems.only_enable(include=["neg"])
    _both(x)
    assert calls == ["neg"]
    flag_gems.disable()
    _both(x)
    assert calls == ["neg"]


def test_an_enable_that_fails_leaves_the_former_in_place(calls, x, monkeypatch):
    flag_gems.only_enable(include=["abs"])
    monkeypatch.setattr(flag_gems, "softmax", None)
    with pytest.raises(ValueError, match=r"flag_gems\.softmax.*is not callable"):
        flag_gems.enable()
    _both(x)
    assert calls == ["abs"]


def test_an_enable_that_torch_refuses_leaves_the_former_in_place(calls, x, monkeypatch):
    flag_gems.only_enable(include=["abs"])
    config = flag_gems._FULL_CONFIG
    monkeypatch.setattr(flag_gems, "_FULL_CONFIG", (*config, ("no_such_op", dict(config)["neg"])))
    with pytest.raises(RuntimeError):
        flag_gems.enable()
    _both(x)
    assert calls == ["abs"]


def test_blocks_nest_and_end_in_order(calls, x):
    with flag_gems.use_gems(include=["abs"]) as outer:
        _both(x)
        with flag_gems.use_gems(include=["abs", "neg"]) as inner:
            _both(x)
        _both(x)
    _both(x)
    assert calls == ["abs", "abs", "neg", "abs"]
    assert outer.calls == {"abs": 2}
    assert inner.calls == {"abs": 1, "neg": 1}


def test_block_inside_enable_leaves_it_in_place(calls, x):
    flag_gems.only_enable(include=["abs"])
    with flag_gems.use_gems(exclude=["neg"]):
        torch.abs(x)
    torch.abs(x)
    assert calls == ["abs", "abs"]


def test_exception_ends_the_block(calls, x):
    with pytest.raises(KeyError), flag_gems.use_gems():
        raise KeyError("the body failed")
    _both(x)
    assert calls == []


@pytest.mark.parametrize("argument", ["include", "exclude"])
def test_unknown_name_is_refused(argument):
    with pytest.raises(ValueError, match=rf"{argument}: 'soft' is neither an operator"):
        flag_gems.use_gems(**{argument: ["abs", "soft"]})
    with pytest.raises(ValueError, match="'soft'"):
        flag_gems.only_enable(include="soft")


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("softmax", {"_softmax", "_softmax.out"}),
        ("_softmax", {"_softmax"}),
        ("softmax_out", {"_softmax.out"}),
        ("sum", {"sum", "sum.dim_IntList", "sum.IntList_out"}),
        ("sum.dim_IntList", {"sum.dim_IntList"}),
        ("rms_norm", set()),
    ],
)
def test_names_stand_for_keys(name, keys):
    assert {entry[0] for entry in flag_gems.runtime.activation.select(name)} == keys


def test_only_enable_needs_names():
    with pytest.raises(ValueError, match="only_enable needs include"):
        flag_gems.only_enable(include=None)


def test_record_writes_calls_anew(tmp_path, x):
    path = tmp_path / "calls.log"
    path.write_text("old\n")
    with flag_gems.use_gems(record=True, once=True, path=path):
        _both(x)
        _both(x)
    assert path.read_text() == "aten::abs\naten::neg\n"


def test_record_without_path_goes_to_the_log(caplog, x):
    caplog.set_level(logging.INFO, logger="flag_gems.calls")
    with flag_gems.use_gems(include=["abs"], record=True):
        torch.abs(x)
    assert caplog.messages == ["aten::abs"]


def test_path_without_record_is_refused(tmp_path):
    with pytest.raises(ValueError, match="record=True"):
        flag_gems.use_gems(path=tmp_path / "calls.log")


def test_autograd_works_above_the_kernels(x):
    x = x.clone().requires_grad_()
    with flag_gems.use_gems() as gems:
        (torch.softmax(x, -1) * x).sum().backward()
    wide = x.detach().double().requires_grad_()
    (torch.softmax(wide, -1) * wide).sum().backward()
    assert gems.calls["_softmax_backward_data"] == 1
    torch.testing.assert_close(x.grad, wide.grad.float())


def test_what_a_kernel_cannot_do_goes_to_torch_and_is_counted(x):
    z = torch.complex(x, x)
    before = runtime.calls()
    with flag_gems.use_gems(include=["mul"]) as gems:
        res = z * z
    torch.testing.assert_close(res, z * z)
    assert gems.calls["mul.Tensor"] == 1
    assert runtime.calls() - before == {("mul.Tensor", "native", "dtype torch.complex64"): 1}
    direct = flag_gems.mul(z.requires_grad_(), z)
    assert direct.requires_grad
