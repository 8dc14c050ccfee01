# SPDX-License-Identifier: Apache-2.0
"""Accuracy of the element-wise functions of one tensor."""

from __future__ import annotations

import pytest
import torch

import flag_gems
from flag_gems.testing import assert_close, assert_equal, options, samples, to_reference
from flag_gems.testing.operands import FLOATING, values

NAMES = [
    *("exp", "log", "sqrt", "rsqrt", "reciprocal", "sin", "cos", "tanh", "sigmoid", "silu"),
    *("relu", "gelu"),
]
SHAPES = [(7, 33)] if options.quick else [(7, 33), (), (0, 3), (5003,)]
SPECIAL = [0.0, -0.0, 0.5, -0.5, 1.0, -3.0, 30.0, -30.0, float("inf"), -float("inf"), float("nan")]


def _marked(names):
    return [pytest.param(name, marks=getattr(pytest.mark, name)) for name in names]


def _torchs(name):
    module = torch if hasattr(torch, name) else torch.nn.functional
    return getattr(module, name)


@pytest.mark.parametrize("name", _marked(NAMES))
@pytest.mark.parametrize("dtype", [*FLOATING, torch.float64])
def test_function(name, dtype):
    for shape in SHAPES:
        x = values(shape, dtype)
        x = x.abs() if name in ("log", "sqrt", "rsqrt") else x
        ref = _torchs(name)(to_reference(x, upcast=True))
        assert_close(getattr(flag_gems, name)(x), ref, dtype, equal_nan=True)


@pytest.mark.parametrize("name", _marked(NAMES))
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_function_of_special_values(name, dtype):
    x = torch.tensor(SPECIAL, dtype=dtype, device=flag_gems.device)
    ref = _torchs(name)(to_reference(x, upcast=True))
    assert_close(getattr(flag_gems, name)(x), ref, dtype, equal_nan=True)


@pytest.mark.parametrize("name", _marked([n for n in NAMES if n not in ("silu", "gelu", "relu")]))
@pytest.mark.parametrize("dtype", [torch.int32, torch.uint8, torch.bool])
def test_integers_give_the_default_dtype(name, dtype):
    x = values((40,), dtype)
    ref = _torchs(name)(to_reference(x).double())
    assert_close(getattr(flag_gems, name)(x), ref, torch.float32, equal_nan=True)


@pytest.mark.bitwise_not
@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8, torch.int32, torch.int64])
def test_bitwise_not(dtype):
    x = values((7, 33), dtype)
    assert_equal(flag_gems.bitwise_not(x), ~to_reference(x))


@pytest.mark.relu
def test_relu_of_integers():
    x = values((33,), torch.int32)
    assert_equal(flag_gems.relu(x), torch.relu(to_reference(x)))


@pytest.mark.gelu
@pytest.mark.parametrize("dtype", FLOATING)
def test_gelu_by_a_hyperbolic_tangent(dtype):
    x = values((7, 33), dtype)
    ref = torch.nn.functional.gelu(to_reference(x, upcast=True), approximate="tanh")
    assert_close(flag_gems.gelu(x, approximate="tanh"), ref, dtype)


@pytest.mark.exp
def test_in_place_and_out():
    x = values((6, 5), torch.float32)
    ref = to_reference(x, upcast=True).exp()
    out = torch.empty(30, device=flag_gems.device)[::2].view(3, 5)
    with pytest.warns(UserWarning, match="was resized"):
        assert flag_gems.exp_out(x, out=out) is out
    assert_close(out, ref, x.dtype)
    every_other = torch.zeros(6, 10, device=flag_gems.device)[:, ::2]
    assert_close(flag_gems.exp_out(x, out=every_other), ref, x.dtype)
    target = x.clone().t()
    assert flag_gems.exp_(target) is target
    assert_close(target, ref.t(), x.dtype)


@pytest.mark.silu
@pytest.mark.gelu
@pytest.mark.bitwise_not
@pytest.mark.exp
@pytest.mark.parametrize(
    "call",
    [
        lambda: flag_gems.silu(values((3,), torch.int32)),
        lambda: flag_gems.gelu(values((3,), torch.int32)),
        lambda: flag_gems.gelu(values((3,), torch.float32), approximate="no"),
        lambda: flag_gems.bitwise_not(values((3,), torch.float32)),
        lambda: flag_gems.exp_(values((3,), torch.int32)),
        lambda: flag_gems.exp_(values((1,), torch.float32).expand(3)),
    ],
)
def test_what_torch_refuses_is_its_error(call):
    with pytest.raises((RuntimeError, NotImplementedError)):
        call()


@pytest.mark.parametrize("name", _marked([n for n in NAMES if n not in ("silu", "gelu", "relu")]))
def test_on_torchs_samples(name):
    samples.check(name, torch.float32, [name], references=not options.quick)


@pytest.mark.parametrize("name", _marked(["silu", "gelu", "relu"]))
def test_activations_on_torchs_samples(name):
    samples.check(f"nn.functional.{name}", torch.float32, [name])
