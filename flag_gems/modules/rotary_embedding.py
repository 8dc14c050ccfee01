# SPDX-License-Identifier: Apache-2.0
"""Rotary position embedding with its table of angles, plain and stretched by YaRN."""

from __future__ import annotations

import math

import torch
from torch import nn

import flag_gems


class GemsRope(nn.Module):
    """Turns queries and keys by their positions (Su et al., 2021).

    Args:
        rotary_dim: elements of a head that are turned, even.
        max_position_embeddings: positions in the table.
        base: pair i turns by position * base ** (-2 i / rotary_dim).
        rotary_interleaved: pairs are neighbours and not the halves of a head.
        dtype, device: of the tables ``cos_cached`` and ``sin_cached``,
            [max_position_embeddings, rotary_dim // 2].

    Raises:
        ValueError: rotary_dim is odd.
    """

    cos_cached: torch.Tensor
    sin_cached: torch.Tensor

    def __init__(
        self,
        rotary_dim: int,
        max_position_embeddings: int = 2048,
        base: float = 10000,
        rotary_interleaved: bool = False,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str | None = None,
    ) -> None:
        super().__init__()
        if rotary_dim % 2:
            raise ValueError(f"{type(self).__name__}: rotary_dim is {rotary_dim}, not even")
        self.rotary_dim = rotary_dim
        self.max_position_embeddings = max_position_embeddings
        self.base = base
        self.rotary_interleaved = rotary_interleaved
        positions = torch.arange(max_position_embeddings, dtype=torch.float32, device=device)
        angles = torch.outer(positions, self._frequencies(device))
        size = self._magnitude()
        self.register_buffer("cos_cached", (angles.cos() * size).to(dtype), persistent=False)
        self.register_buffer("sin_cached", (angles.sin() * size).to(dtype), persistent=False)

    def _frequencies(self, device: torch.device | str | None) -> torch.Tensor:
        """Radians a position for each pair, float32 [rotary_dim // 2]."""
        exponents = torch.arange(0, self.rotary_dim, 2, dtype=torch.float32, device=device)
        return torch.as_tensor(self.base ** -(exponents / self.rotary_dim))

    def _magnitude(self) -> float:
        return 1.0

    def forward(
        self,
        query: torch.Tensor,
        key: torch.Tensor,
        position_ids: torch.Tensor | None = None,
        inplace: bool = False,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """See :func:`flag_gems.apply_rotary_pos_emb`."""
        turned: tuple[torch.Tensor, torch.Tensor] = flag_gems.apply_rotary_pos_emb(
            query,
            key,
            self.cos_cached,
            self.sin_cached,
            position_ids=position_ids,
            rotary_interleaved=self.rotary_interleaved,
            inplace=inplace,
        )
        return turned

    def extra_repr(self) -> str:
        return (
            f"rotary_dim={self.rotary_dim}, "
            f"max_position_embeddings={self.max_position_embeddings}, base={self.base}, "
            f"rotary_interleaved={self.rotary_interleaved}"
        )


class GemsDeepseekYarnRoPE(GemsRope):
    """:class:`GemsRope` for contexts longer than those of the training (YaRN, Peng et al., 2023).

    Pairs that turn more than ``beta_fast`` times in ``original_max_position_embeddings`` positions
    keep their frequency, those that turn less than ``beta_slow`` times are slowed down by
    ``scaling_factor``, and between them it goes over linearly. As in DeepSeek-V2, the tables are
    scaled by the quotient of the attention temperatures of ``mscale`` and ``mscale_all_dim``.
    """

    def __init__(
        self,
        rotary_dim: int,
        max_position_embeddings: int = 2048,
        base: float = 10000,
        rotary_interleaved: bool = False,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str | None = None,
        scaling_factor: float = 1.0,
        original_max_position_embeddings: int = 4096,
        beta_fast: float = 32.0,
        beta_slow: float = 1.0,
        mscale: float = 1.0,
        mscale_all_dim: float = 0.0,
    ) -> None:
        # nn.Module takes plain attributes before its own initialisation, which makes the tables.
        self.scaling_factor = scaling_factor
        self.original_max_position_embeddings = original_max_position_embeddings
        self.beta_fast = beta_fast
        self.beta_slow = beta_slow
        self.mscale = mscale
        self.mscale_all_dim = mscale_all_dim
        super().__init__(
            rotary_dim, max_position_embeddings, base, rotary_interleaved, dtype, device
        )

    def _pair(self, turns: float) -> float:
        """The pair, as a fraction, that turns so often in the original context."""
        period = self.original_max_position_embeddings / (turns * 2 * math.pi)
        return self.rotary_dim * math.log(period) / (2 * math.log(self.base))

    def _frequencies(self, device: torch.device | str | None) -> torch.Tensor:
        plain = super()._frequencies(device)
        low = max(math.floor(self._pair(self.beta_fast)), 0)
        high = min(math.ceil(self._pair(self.beta_slow)), self.rotary_dim - 1)
        pairs = torch.arange(self.rotary_dim // 2, dtype=torch.float32, device=device)
        # Where both bounds are one pair the ramp becomes a step.
        slowed = ((pairs - low) / max(high - low, 1e-3)).clamp(0, 1)
        return plain * (1 - slowed) + plain / self.scaling_factor * slowed

    def _magnitude(self) -> float:
        def temperature(weight: float) -> float:
            if self.scaling_factor <= 1:
                return 1.0
            return 0.1 * weight * math.log(self.scaling_factor) + 1.0

        return temperature(self.mscale) / temperature(self.mscale_all_dim)
