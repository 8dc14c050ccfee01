# SPDX-License-Identifier: Apache-2.0
"""torch.ops.flag_gems as torch expects a custom operator to be, and the same answer four ways."""

from __future__ import annotations

import subprocess
import sys
import threading
from importlib.util import find_spec

import pytest
import torch

import flag_gems
from flag_gems.testing import assert_close
from flag_gems.testing.operands import values


def f32(*shape: int, grad: bool = False) -> torch.Tensor:
    return values(shape, torch.float32).requires_grad_(grad)


SAMPLES = {
    "softmax": lambda grad: ((f32(4, 33, grad=grad), 1, False), {}),
    "rms_norm": lambda grad: ((f32(4, 33, grad=grad), f32(33, grad=grad), 1e-5), {}),
    "mm": lambda grad: ((f32(5, 7, grad=grad), f32(7, 3, grad=grad)), {}),
    "bmm": lambda grad: ((f32(2, 5, 7, grad=grad), f32(2, 7, 3, grad=grad)), {}),
    "addmm": lambda grad: (
        (f32(3, grad=grad), f32(5, 7, grad=grad), f32(7, 3, grad=grad)),
        {"beta": 2, "alpha": 0.5},
    ),
}
"""Operator -> its arguments; all of them are differentiable."""

REFERENCES = {
    "softmax": lambda x, dim, wide: torch.softmax(x, dim),
    "rms_norm": lambda x, w, eps: torch.nn.functional.rms_norm(x, w.shape, w, eps),
    "mm": torch.mm,
    "bmm": torch.bmm,
    "addmm": torch.addmm,
}


def twins(arguments):
    """The same arguments in float64, with gradients of their own."""
    return tuple(
        one.detach().double().requires_grad_(one.requires_grad)
        if isinstance(one, torch.Tensor)
        else one
        for one in arguments
    )


@pytest.mark.parametrize("name", SAMPLES)
def test_opcheck(name):
    operator = getattr(torch.ops.flag_gems, name).default
    for grad in (False, True):
        arguments, named = SAMPLES[name](grad)
        torch.library.opcheck(operator, arguments, named)


@pytest.mark.parametrize("name", SAMPLES)
def test_values_and_gradients_agree_with_float64(name):
    arguments, named = SAMPLES[name](True)
    wide = twins(arguments)
    result = getattr(torch.ops.flag_gems, name)(*arguments, **named)
    reference = REFERENCES[name](*wide, **named)
    assert_close(result, reference, torch.float32, reduce_dim=33)
    grad = values(result.shape, torch.float32)
    result.backward(grad)
    reference.backward(grad.double())
    for one, other in zip(arguments, wide, strict=True):
        if isinstance(one, torch.Tensor):
            assert_close(one.grad, other.grad, torch.float32, reduce_dim=33)


def test_errors_are_torchs_without_a_backtrace_of_ours():
    from flag_gems import c_operators

    wrong = (f32(2, 3), f32(2, 3))
    with pytest.raises(RuntimeError, match="cannot be multiplied") as raised:
        c_operators.mm(*wrong)
    with pytest.raises(IndexError, match="Dimension out of range"):
        c_operators.softmax(f32(2, 3), 2)
    assert "frame #" not in str(raised.value)


@pytest.mark.parametrize("name", SAMPLES)
def test_under_torch_compile(name):
    operator = getattr(torch.ops.flag_gems, name)
    arguments, named = SAMPLES[name](True)
    compiled = torch.compile(
        lambda *given: operator(*given, **named) * 2, backend="aot_eager", fullgraph=True
    )
    result = compiled(*arguments)
    assert_close(result, operator(*arguments, **named).double() * 2, torch.float32)
    result.sum().backward()
    assert arguments[0].grad is not None


@pytest.mark.parametrize("name", SAMPLES)
def test_past_the_dispatcher(name):
    arguments, named = SAMPLES[name](False)
    direct = getattr(flag_gems.c_operators, name)(*arguments, **named)
    assert torch.equal(direct, getattr(torch.ops.flag_gems, name)(*arguments, **named))


def in_fresh_process(code: str, **environment: str) -> str:
    import os

    done = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_check_script_of_the_manual():
    in_fresh_process(
        """
import torch
import flag_gems
from flag_gems import c_operators, aten_patch
from flag_gems.config import has_c_extension, use_c_extension

assert has_c_extension, "C++ extension was not built"
assert use_c_extension, "please `export USE_C_EXTENSION=1`"
assert hasattr(torch.ops.flag_gems, "mm")
assert aten_patch.get_registered_ops()
_ = c_operators.mm
""",
        USE_C_EXTENSION="1",
    )


def test_without_being_asked_nothing_is_replaced():
    in_fresh_process(
        """
import torch, flag_gems
from flag_gems import aten_patch, config
assert config.has_c_extension and not config.use_c_extension
assert aten_patch.get_registered_ops() == []
assert hasattr(torch.ops.flag_gems, "softmax")
""",
        USE_C_EXTENSION="0",
    )


@pytest.mark.skipif(find_spec("flag_gems.aten_patch") is None, reason="built without aten_patch")
class TestAtenPatch:
    @pytest.fixture(autouse=True)
    def patch(self):
        from flag_gems import aten_patch

        before = aten_patch.get_registered_ops()
        self.patch = aten_patch
        yield
        aten_patch.disable()
        if before:
            aten_patch.enable(*before)

    def test_an_operator_is_replaced_and_given_back(self):
        # A K of 0 shows who computed: only our wrapper counts a call that it hands to torch.
        self.patch.disable()
        self.patch.enable("mm")
        assert self.patch.get_registered_ops() == ["mm", "mm.out"]
        before = flag_gems.c_operators.native_count()
        a = torch.ones(3, 3, dtype=torch.int64, device=flag_gems.device)
        torch.mm(a, a)
        assert flag_gems.c_operators.native_count() == before + 1
        self.patch.disable("mm")
        torch.mm(a, a)
        assert flag_gems.c_operators.native_count() == before + 1
        assert self.patch.get_registered_ops() == []

    def test_values_stay_right(self):
        a, b = f32(9, 5, grad=True), f32(5, 4)
        reference = torch.mm(a.detach().double(), b.double())
        with self.patch.use("mm", "_softmax"):
            product = torch.mm(a, b)
            row = torch.softmax(product, 1)
        assert_close(product, reference, torch.float32, reduce_dim=5)
        assert_close(row, torch.softmax(reference, 1), torch.float32, reduce_dim=5)
        row[:, 0].sum().backward()
        assert a.grad is not None

    def test_a_block_leaves_what_was_there(self):
        self.patch.disable()
        self.patch.enable("mm")
        with self.patch.use("mm", "_softmax"):
            assert "_softmax" in self.patch.get_registered_ops()
        assert self.patch.get_registered_ops() == ["mm", "mm.out"]

    def test_an_unknown_operator_is_named(self):
        with pytest.raises(ValueError, match="no_such_operator"):
            self.patch.enable("no_such_operator")

    def test_switching_while_other_threads_compute(self):
        a = f32(16, 16)
        reference = torch.mm(a.double(), a.double())
        failures: list[BaseException] = []
        stop = threading.Event()

        def compute() -> None:
            try:
                while not stop.is_set():
                    assert_close(torch.mm(a, a), reference, torch.float32, reduce_dim=16)
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=compute) for _ in range(3)]
        for thread in threads:
            thread.start()
        for _ in range(50):
            with self.patch.use("mm"):
                assert_close(torch.mm(a, a), reference, torch.float32, reduce_dim=16)
        stop.set()
        for thread in threads:
            thread.join()
        assert not failures
