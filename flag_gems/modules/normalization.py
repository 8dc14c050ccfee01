# SPDX-License-Identifier: Apache-2.0
"""RMS normalisation, with the addition of a residual in the same pass over memory."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn

import flag_gems


class GemsRMSNorm(nn.Module):
    """``torch.nn.RMSNorm`` that also takes a residual.

    Args:
        normalized_shape: trailing sizes that are normalised.
        eps: added to the mean of squares.
        elementwise_affine: whether there is a ``weight``, initially ones.
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-6,
        elementwise_affine: bool = True,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else normalized_shape
        self.normalized_shape = tuple(shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        self.register_parameter("weight", None)
        if elementwise_affine:
            ones = torch.ones(self.normalized_shape, device=device, dtype=dtype)
            self.weight = nn.Parameter(ones)

    def reset_parameters(self) -> None:
        if self.weight is not None:
            nn.init.ones_(self.weight)

    def forward(
        self, x: torch.Tensor, residual: torch.Tensor | None = None
    ) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
        """The normalised ``x``; with a residual, the normalised sum and the sum.

        With a residual and no gradient to compute, both arguments are overwritten by the results.
        """
        weight = self.weight
        if residual is None:
            return self._norm(x)
        trained = (x, residual) if weight is None else (x, residual, weight)
        if weight is None or (
            torch.is_grad_enabled() and any(tensor.requires_grad for tensor in trained)
        ):
            total = x + residual
            return self._norm(total), total
        both: tuple[torch.Tensor, torch.Tensor] = flag_gems.fused_add_rms_norm(
            x, residual, self.normalized_shape, weight, self.eps
        )
        return both

    def _norm(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = flag_gems.rms_norm(x, self.normalized_shape, self.weight, self.eps)
        return result

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
        )
