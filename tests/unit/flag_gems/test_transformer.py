# SPDX-License-Identifier: Apache-2.0
"""A small transformer, forward and backward, on Gems and on torch; and who really answered."""

from __future__ import annotations

import copy

import torch

import flag_gems
from flag_gems.runtime import calls
from flag_gems.testing import assert_close

WORDS, WIDTH, HEADS, LENGTH = 50, 32, 4, 12


class Block(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norms = torch.nn.ModuleList(torch.nn.RMSNorm(WIDTH, eps=1e-6) for _ in range(2))
        self.mix = torch.nn.Linear(WIDTH, 3 * WIDTH)
        self.out = torch.nn.Linear(WIDTH, WIDTH)
        self.gate = torch.nn.Linear(WIDTH, 2 * WIDTH)
        self.down = torch.nn.Linear(WIDTH, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, _ = x.shape
        q, k, v = (
            part.reshape(batch, length, HEADS, -1).transpose(1, 2)
            for part in self.mix(self.norms[0](x)).chunk(3, -1)
        )
        scores = q @ k.transpose(-2, -1) / (WIDTH // HEADS) ** 0.5
        later = torch.ones(length, length, dtype=torch.bool, device=x.device).triu(1)
        weights = torch.softmax(scores.masked_fill(later, float("-inf")), -1)
        x = x + self.out((weights @ v).transpose(1, 2).reshape(batch, length, WIDTH))
        up, gate = self.gate(self.norms[1](x)).chunk(2, -1)
        return x + self.down(up * torch.sigmoid(gate) * gate)


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words = torch.nn.Embedding(WORDS, WIDTH)
        self.blocks = torch.nn.Sequential(Block(), Block())
        self.head = torch.nn.Linear(WIDTH, WORDS)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.head(self.blocks(self.words(tokens)))


def trained(model: torch.nn.Module, tokens: torch.Tensor) -> list[torch.Tensor]:
    """Logits, loss, and the gradient of every parameter."""
    logits = model(tokens)
    loss = torch.nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())
    loss.backward()
    return [logits, loss, *(parameter.grad for parameter in model.parameters())]


def test_forward_and_backward_agree_with_float64_and_gems_answered():
    torch.manual_seed(0)
    model = Model().to(flag_gems.device)
    tokens = torch.randint(0, WORDS, (3, LENGTH), device=flag_gems.device)
    exact = trained(copy.deepcopy(model).double(), tokens)
    before = calls()
    with flag_gems.use_gems():
        results = trained(model, tokens)
    answered = {(call.op, call.how) for call in calls() - before}
    # The longest sum of a gradient runs over all tokens; two layers of products add to its error.
    for result, reference in zip(results, exact, strict=True):
        assert_close(result, reference, torch.float32, reduce_dim=16 * WIDTH)
    for key in ("_softmax", "addmm", "bmm", "embedding", "mul.Tensor", "sigmoid"):
        assert (key, "gems") in answered, key
    assert not {call for call in calls() - before if call.how == "native" and not call.reason}
    by_torch = {op for op, how in answered if how == "native"}
    assert not by_torch & {"_softmax", "addmm", "mm", "bmm", "embedding", "sum.dim_IntList"}
