# SPDX-License-Identifier: Apache-2.0
"""What torch.compile writes with Inductor's Triton back end for CPUs, against eager float64."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import torch
import torch.nn.functional as F
from torch._inductor import config
from torch._inductor.utils import fresh_cache, run_and_get_code

Tensors = tuple[torch.Tensor, ...]


class Graph(NamedTuple):
    """A function of tensors, how to draw them, and how many roundings its longest chain has."""

    function: Callable[..., object]
    shapes: tuple[tuple[int, ...], ...]
    roundings: int
    dtype: torch.dtype = torch.float32


GRAPHS = {
    "pointwise": Graph(lambda x, y: torch.where(x > 0, x * y, x - y).sigmoid(), ((33, 70),) * 2, 8),
    "gelu": Graph(lambda x: F.gelu(x) * 2, ((65, 129),), 8),
    "broadcast": Graph(lambda x, y: (x + y) * x.exp(), ((40, 70), (70,)), 8),
    "transpose": Graph(lambda x: x.t().contiguous() * 3, ((70, 45),), 4),
    "integers": Graph(lambda x: (x * 100).to(torch.int64) // 7 % 5, ((300,),), 1),
    "sum": Graph(lambda x: x.sum(-1), ((9, 500),), 500),
    "outer_sum": Graph(lambda x: x.sum(0), ((120, 90),), 120),
    "mean_all": Graph(lambda x: (x * x).mean(), ((70, 80),), 5600),
    "variance": Graph(lambda x: torch.var_mean(x, -1), ((17, 300),), 300),
    "argmax": Graph(lambda x: (x.argmax(-1), x.amax(-1)), ((31, 200),), 1),
    "any_and_prod": Graph(lambda x: ((x > 2).any(-1), (1 + x / 50).prod(-1)), ((20, 60),), 120),
    "softmax": Graph(lambda x: torch.softmax(x * 2, -1), ((30, 257),), 257),
    "log_softmax": Graph(lambda x: torch.log_softmax(x, 0), ((50, 33),), 50),
    "layer_norm": Graph(lambda x, w: F.layer_norm(x, (96,), w), ((40, 96), (96,)), 96),
    "rms_norm": Graph(lambda x, w: F.rms_norm(x, (96,), w, 1e-5), ((40, 96), (96,)), 96),
    "cumsum": Graph(lambda x: x.cumsum(-1) * 2, ((12, 200),), 200),
    "sort": Graph(lambda x: x.sort(-1).values, ((12, 64),), 1),
    "gather": Graph(lambda x: x[(x[:, 0].abs() * 1000).to(torch.int64) % 40] + 1, ((40, 33),), 2),
    "bf16_softmax": Graph(lambda x: torch.softmax(x, -1), ((30, 64),), 64, torch.bfloat16),
    "f64_norm": Graph(lambda x: x / x.norm(dim=-1, keepdim=True), ((20, 50),), 50, torch.float64),
}  # fmt: skip


@pytest.fixture(autouse=True)
def fresh_inductor(own_cache: Path) -> Iterator[None]:
    """Inductor's Triton back end for the CPU, compiling in this process and with no old results."""
    torch._dynamo.reset()
    with config.patch({"cpu_backend": "triton", "compile_threads": 1}), fresh_cache():
        yield
    torch._dynamo.reset()


def drawn(graph: Graph, seed: int = 0) -> Tensors:
    generator = torch.Generator().manual_seed(seed)
    return tuple(torch.randn(s, generator=generator).to(graph.dtype) for s in graph.shapes)


def check(found: object, graph: Graph, inputs: Tensors) -> None:
    """Integers are equal; floats lie within one rounding error for each step of the chain."""
    expected = graph.function(*(x.double() for x in inputs))
    pairs = zip(found, expected, strict=True) if isinstance(found, tuple) else [(found, expected)]
    for got, want in pairs:
        if not want.is_floating_point():
            assert torch.equal(got, want)
            continue
        assert got.dtype == graph.dtype
        # Steps are taken in f32 at least; the last one rounds to the result's type.
        steps = torch.finfo(torch.promote_types(graph.dtype, torch.float32)).eps
        last = torch.finfo(graph.dtype).eps
        # A sum's error is relative to its terms, whose sum may cancel: they are about 1 each.
        bound = graph.roundings * steps + last
        torch.testing.assert_close(got.double(), want, rtol=bound, atol=bound)


@pytest.mark.parametrize("name", GRAPHS)
def test_a_graph_is_right_and_ran_as_triton_kernels(
    name: str, request: pytest.FixtureRequest
) -> None:
    if request.config.getoption("--quick", default=False) and list(GRAPHS).index(name) % 4:
        pytest.skip("every fourth graph with --quick")
    graph = GRAPHS[name]
    inputs = drawn(graph)
    found, sources = run_and_get_code(torch.compile(graph.function, fullgraph=True), *inputs)
    check(found, graph, inputs)
    written = "\n".join(sources)
    assert "@triton.jit" in written
    assert "cpp_fused" not in written


def test_dynamic_shapes_share_one_compiled_graph() -> None:
    graph = Graph(lambda x: torch.softmax(x, -1) + x.sum(-1, True), ((0, 0),), 200)
    compiled = torch.compile(graph.function, dynamic=True, fullgraph=True)
    torch._dynamo.utils.counters.clear()
    for number, shape in enumerate([(7, 100), (12, 33), (40, 200)]):
        inputs = drawn(graph._replace(shapes=(shape,)), number)
        check(compiled(*inputs), graph, inputs)
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == 1


def test_gradients_flow_through_compiled_graphs() -> None:
    def loss(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return (F.layer_norm(x, (64,), w) * x.sigmoid()).sum()

    x, w = torch.randn(20, 64, requires_grad=True), torch.randn(64, requires_grad=True)
    torch.compile(loss, fullgraph=True)(x, w).backward()
    wide = [t.detach().double().requires_grad_() for t in (x, w)]
    loss(*wide).backward()
    # Each element of w's gradient sums 20 terms, each of x's comes of two sums of 64.
    bound = 4 * 64 * torch.finfo(torch.float32).eps
    for narrow, exact in zip((x, w), wide, strict=True):
        torch.testing.assert_close(narrow.grad.double(), exact.grad, rtol=bound, atol=bound)
