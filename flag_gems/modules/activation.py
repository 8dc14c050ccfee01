# SPDX-License-Identifier: Apache-2.0
"""The gate of a SwiGLU feed-forward block."""

from __future__ import annotations

import torch
from torch import nn

import flag_gems


class GemsSiluAndMul(nn.Module):
    """``silu(x) * y`` of two tensors of one shape."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = flag_gems.silu_and_mul(x, y)
        return result
