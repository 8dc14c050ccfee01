# SPDX-License-Identifier: Apache-2.0
"""Liger-Kernel's operators from its wheel, forward and backward, on the CPU against float64.

They are kernels that others wrote and train with. `make test-liger` lays the wheel into a folder of
its own and runs these tests; in the environment of the other tests it is not installed.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import NamedTuple

import pytest
import torch
import torch.nn.functional as F

import triton_cpu

pytest.importorskip("liger_kernel", reason="Liger-Kernel is not installed: make test-liger")

Tensor = torch.Tensor
ROWS, COLUMNS = 24, 200


class Operator(NamedTuple):
    """An operator of Liger's: where it is, what torch computes it from, and what it takes."""

    module: str
    function: str
    reference: Callable[..., Tensor]
    shapes: tuple[tuple[int, ...], ...]
    """Of the differentiable arguments."""
    rest: tuple[object, ...] = ()
    """Arguments after them."""
    draw: Callable[[Tensor], Tensor] = lambda x: x
    terms: int = COLUMNS
    """Roundings of the longest chain that leads to an element."""


labels = torch.randint(0, COLUMNS, (ROWS,), generator=torch.Generator().manual_seed(9))
labels[3] = -100


def rms_norm(x: Tensor, weight: Tensor) -> Tensor:
    return F.rms_norm(x, (COLUMNS,), weight, 1e-6)


def group_norm(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return F.group_norm(x, 3, weight, bias, 1e-5)


def geglu(a: Tensor, b: Tensor) -> Tensor:
    return F.gelu(a, approximate="tanh") * b


def kl(x: Tensor) -> Tensor:
    return F.kl_div(x, target_like(x), reduction="batchmean")


def target_like(x: Tensor) -> Tensor:
    """A distribution for each row that depends on the shape alone."""
    rows, columns = x.shape
    places = torch.arange(rows * columns, dtype=torch.float64).reshape(rows, columns)
    return torch.softmax(torch.sin(places), -1).to(x.dtype)


def jsd(x: Tensor) -> Tensor:
    target = target_like(x).log()
    middle = (x.exp() + target.exp()) / 2
    left = (target.exp() * (target - middle.log())).sum()
    return (left + (x.exp() * (x - middle.log())).sum()) / 2 / x.shape[0]


def tvd(x: Tensor) -> Tensor:
    return (x - target_like(x)).abs().sum() / 2 / x.shape[0]


def linear_cross_entropy(x: Tensor, weight: Tensor) -> Tensor:
    return F.cross_entropy(x @ weight.T, labels % 50)


def log_softmax(x: Tensor) -> Tensor:
    return torch.log_softmax(x, -1)


def softmax(x: Tensor) -> Tensor:
    return torch.softmax(x, -1)


matrix, vector = (ROWS, COLUMNS), (COLUMNS,)
example = torch.empty(matrix, dtype=torch.float32)
OPERATORS = {
    "rms_norm": Operator(
        "rms_norm", "LigerRMSNormFunction", rms_norm, (matrix, vector), (1e-6, 0.0, "llama", False)
    ),
    "layer_norm": Operator(
        "layer_norm", "LigerLayerNormFunction",
        lambda x, w, b: F.layer_norm(x, (COLUMNS,), w, b, 1e-5), (matrix, vector, vector), (1e-5,),
    ),
    "group_norm": Operator(
        "group_norm", "LigerGroupNormFunction", group_norm, ((4, 12, 50), (12,), (12,)),
        (12, 3, 1e-5),
    ),
    "fused_add_rms_norm": Operator(
        "fused_add_rms_norm", "LigerFusedAddRMSNormFunction",
        lambda x, r, w: rms_norm(x + r, w), (matrix, matrix, vector), (1e-6, 0.0, "llama", False),
    ),
    "swiglu": Operator(
        "swiglu", "LigerSiLUMulFunction", lambda a, b: F.silu(a) * b, (matrix, matrix), terms=8
    ),
    "geglu": Operator("geglu", "LigerGELUMulFunction", geglu, (matrix, matrix), terms=16),
    "relu_squared": Operator(
        "relu_squared", "LigerReLUSquaredFunction", lambda x: F.relu(x) ** 2, (matrix,), terms=4
    ),
    "softmax": Operator("softmax", "LigerSoftmaxFunction", softmax, (matrix,)),
    "cross_entropy": Operator(
        "cross_entropy", "LigerCrossEntropyFunction", lambda x: F.cross_entropy(x, labels),
        (matrix,), (labels, None),
    ),
    "fused_linear_cross_entropy": Operator(
        "fused_linear_cross_entropy", "LigerFusedLinearCrossEntropyFunction",
        linear_cross_entropy, ((ROWS, 32), (50, 32)), (labels % 50,),
    ),
    "kl_div": Operator(
        "kl_div", "LigerKLDivLossFunction", kl, (matrix,), (target_like(example),), log_softmax,
        terms=ROWS * COLUMNS,
    ),
    "jsd": Operator(
        "jsd", "LigerJSDFunction", jsd, (matrix,), (target_like(example).log(),), log_softmax,
        terms=ROWS * COLUMNS,
    ),
    "tvd": Operator(
        "tvd", "LigerTVDLossFunction", tvd, (matrix,), (target_like(example),), softmax,
        terms=ROWS * COLUMNS,
    ),
    "dyt": Operator(
        "dyt", "LigerDyTFunction", lambda x, a, g, b: torch.tanh(a * x) * g + b,
        (matrix, (1,), vector, vector), terms=ROWS * COLUMNS,
    ),
}  # fmt: skip


def assert_near(found: Tensor, exact: Tensor, terms: int) -> None:
    """Within one rounding for each term, of the largest magnitude of the result."""
    assert found.shape == exact.shape
    size = max(1.0, exact.abs().max().item())
    bound = (terms + 8) * torch.finfo(found.dtype).eps * size
    worst = (found.double() - exact).abs().max().item()
    assert worst <= bound, f"off by {worst:.3g} where {bound:.3g} is allowed"


@pytest.fixture(autouse=True)
def on_the_cpu() -> None:
    triton_cpu.enable()


@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_and_its_gradients_are_right(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    operator = OPERATORS[name]
    generator = torch.Generator().manual_seed(1)
    drawn = [torch.randn(shape, generator=generator) for shape in operator.shapes]
    drawn[0] = operator.draw(drawn[0])
    wide = [x.double().requires_grad_() for x in drawn]
    narrow = [x.requires_grad_() for x in drawn]
    module = importlib.import_module(f"liger_kernel.ops.{operator.module}")
    if name == "dyt":
        # Its backward asks the device for a number of programs, and knows no answer for a CPU.
        monkeypatch.setattr(module, "infer_device", lambda: "npu")
        monkeypatch.setattr(module, "get_npu_core_count", lambda: 4, raising=False)
    # Some of its kernels reuse the memory of their inputs.
    given = [x.clone() for x in narrow]
    found = getattr(module, operator.function).apply(*given, *operator.rest)
    found = found[0] if isinstance(found, tuple) else found
    exact = operator.reference(*wide)
    assert_near(found.detach(), exact.detach(), operator.terms)
    # Losses scale their gradient by a scalar, the rest gets one of its own for each element.
    seed = torch.randn(found.shape, generator=generator) if found.dim() else torch.tensor(1.0)
    found.backward(seed)
    exact.backward(seed.double())
    for got, want in zip(narrow, wide, strict=True):
        assert got.grad is not None
        assert want.grad is not None
        assert_near(got.grad, want.grad, operator.terms + ROWS)


def test_rotary_embedding_turns_pairs_and_back() -> None:
    from liger_kernel.ops.rope import LigerRopeFunction

    generator = torch.Generator().manual_seed(1)
    q, k = (torch.randn(2, heads, 10, 16, generator=generator) for heads in (4, 2))
    angles = torch.arange(10).double()[:, None] / 100 ** (torch.arange(8).double() / 8)
    angles = torch.cat([angles, angles], -1)[None]

    def turned(x: Tensor) -> Tensor:
        half = torch.cat([-x[..., 8:], x[..., :8]], -1)
        return x * angles.cos()[:, None] + half * angles.sin()[:, None]

    narrow = [x.clone().requires_grad_() for x in (q, k)]
    wide = [x.double().requires_grad_() for x in (q, k)]
    sides = angles.cos().float(), angles.sin().float()
    found = LigerRopeFunction.apply(*(x.clone() for x in narrow), *sides)
    for got, given, exact_input in zip(found, narrow, wide, strict=True):
        exact = turned(exact_input)
        assert_near(got.detach(), exact.detach(), 8)
        seed = torch.randn(got.shape, generator=generator)
        exact.backward(seed.double())
        (gradient,) = torch.autograd.grad(got, given, seed, retain_graph=True)
        assert exact_input.grad is not None
        assert_near(gradient, exact_input.grad, 8)
