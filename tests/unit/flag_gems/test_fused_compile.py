# SPDX-License-Identifier: Apache-2.0
"""The fused operators inside torch.compile: one graph, the same results and gradients."""

from __future__ import annotations

import pytest
import torch

import flag_gems
from flag_gems.modules import GemsRMSNorm, GemsRope, GemsSiluAndMul
from flag_gems.runtime import calls
from flag_gems.testing import assert_close
from flag_gems.testing.operands import values

DEVICE = flag_gems.device


class _Block(torch.nn.Module):
    """Norm, gate and rotation; trained, hence nothing in place."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = GemsRMSNorm(32, device=DEVICE)
        self.gate = GemsSiluAndMul()
        self.rope = GemsRope(16, 8, device=DEVICE)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        normal = self.norm(x)
        gated = self.gate(normal, x)
        q, k = gated.view(1, -1, 2, 16).chunk(2, 2)
        q, k = self.rope(q, k)
        return (q * k).sum() + gated.square().sum()


@pytest.mark.parametrize("backend", ["aot_eager"])
def test_a_trained_block_compiles_to_one_graph(backend):
    torch.compiler.reset()
    block = _Block()
    results = []
    for run in (block, torch.compile(block, backend=backend, fullgraph=True)):
        x = values((6, 32), torch.float32).requires_grad_()
        before = calls()
        loss = run(x)
        loss.backward()
        names = {call.op for call in calls() - before if call.how == "gems"}
        assert names >= {"rms_norm", "silu_and_mul", "apply_rotary_pos_emb"}
        results.append((loss, x.grad, block.norm.weight.grad))
        block.norm.weight.grad = None
    for eager, compiled in zip(*results, strict=True):
        assert_close(compiled, eager, torch.float32, reduce_dim=32)


def test_operators_that_write_into_their_arguments_compile_to_one_graph():
    torch.compiler.reset()
    weight = torch.ones(32, device=DEVICE)
    slots = torch.tensor([3, 0, 7, -1], device=DEVICE)
    starts = torch.tensor([0, 1, 4], dtype=torch.int32, device=DEVICE)

    def step(x, residual, cache):
        normal, total = flag_gems.fused_add_rms_norm(x, residual, 32, weight)
        heads = normal.view(4, 2, 16)
        flag_gems.reshape_and_cache_flash(heads, heads, cache[0], cache[1], slots)
        attended = flag_gems.flash_attn_varlen_func(
            heads, heads, heads, 3, starts, 3, starts, causal=True
        )
        product = flag_gems.rwkv_mm_sparsity(attended.flatten()[:4], total)
        parts = flag_gems.rwkv_ka_fusion(normal, weight, total, weight, 2, 16)
        return attended, product, *parts

    runs = []
    for run in (step, torch.compile(step, backend="aot_eager", fullgraph=True)):
        x, residual = values((4, 32), torch.float32), values((4, 64), torch.float32)[:, :32].clone()
        cache = torch.zeros((2, 2, 4, 2, 16), device=DEVICE)
        with torch.no_grad():
            runs.append((*run(x, residual, cache), x, residual, cache))
    assert runs[0][-1].any()
    for eager, compiled in zip(*runs, strict=True):
        assert_close(compiled, eager, torch.float32)


OPERATORS = {
    "rms_norm": lambda: (values((3, 8), torch.float32), values((8,), torch.float32), 8, 1e-5),
    "silu_and_mul": lambda: (values((3, 8), torch.float32), values((3, 8), torch.float32)),
    "fused_add_rms_norm": lambda: (
        values((3, 8), torch.float32), values((3, 8), torch.float32).flip(0),
        values((8,), torch.float32), 8, 1e-5,
    ),
    "rwkv_mm_sparsity": lambda: (values((3,), torch.float32), values((3, 8), torch.float32)),
    "rotary_embedding": lambda: (
        values((1, 3, 2, 4), torch.float32), values((1, 3, 1, 4), torch.float32),
        values((3, 2), torch.float32), values((3, 2), torch.float32), None, False, False,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OPERATORS)
def test_the_operators_of_graphs_keep_torchs_rules(name):
    """Schema, fake implementation and gradient registration, by torch's own checker."""
    arguments = OPERATORS[name]()
    if name in ("rms_norm", "silu_and_mul"):
        for tensor in arguments[:2]:
            tensor.requires_grad_()
    torch.library.opcheck(getattr(torch.ops.flag_gems_python, name), arguments)
