# SPDX-License-Identifier: Apache-2.0
"""The place of the largest or smallest element, with or without the element itself.

The first of equal elements counts, and the first NaN above everything, as in torch's CPU kernels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from flag_gems.runtime import dtypes
from flag_gems.runtime.reductions.kernels import place_kernel
from flag_gems.runtime.reductions.plan import Plan, plan
from flag_gems.runtime.tiling import warps


@dataclass(frozen=True)
class Extreme:
    """The place of the largest (or the smallest) element."""

    largest: bool

    def find(
        self,
        source: torch.Tensor,
        dims: tuple[int, ...],
        places: torch.Tensor,
        values: torch.Tensor | None = None,
    ) -> None:
        """Writes the places within ``dims``, counted in the order of the shape, and the elements.

        Args:
            source: not empty, real, any strides.
            places: int64, contiguous, of the kept shape.
            values: contiguous like ``places``, dtype of ``source``; None where nobody asks.
        """
        work = plan(source, dims)
        if work.splits == 1:
            self._launch(work, None, values, places)
            return
        shape = (work.splits, work.kept.size)
        partial = torch.empty(shape, dtype=source.dtype, device=source.device)
        found = torch.empty(shape, dtype=torch.int64, device=source.device)
        self._launch(work, None, partial, found)
        while (work := plan(partial, (0,))).splits > 1:
            shape = (work.splits, work.kept.size)
            next_partial = torch.empty(shape, dtype=source.dtype, device=source.device)
            next_found = torch.empty(shape, dtype=torch.int64, device=source.device)
            self._launch(work, found, next_partial, next_found)
            partial, found = next_partial, next_found
        self._launch(work, found, values, places)

    def _last(self, dtype: torch.dtype) -> int | float:
        """What no element of a dtype counts behind."""
        if dtype.is_floating_point:
            return -math.inf if self.largest else math.inf
        if dtype is torch.bool:
            return 0 if self.largest else 1
        return torch.iinfo(dtype).min if self.largest else torch.iinfo(dtype).max

    def _launch(
        self,
        work: Plan,
        before: torch.Tensor | None,
        values: torch.Tensor | None,
        places: torch.Tensor,
    ) -> None:
        small = dtypes.is_integral(work.source.dtype) and work.source.dtype.itemsize < 4
        # Triton's reductions widen small integers; comparing needs one width throughout.
        compute = dtypes.compute(torch.int32 if small else work.source.dtype)
        place_kernel[work.grid](
            work.source, before, values, places, *work.numbers,
            LARGEST=self.largest, COMPUTE=compute, LAST=self._last(work.source.dtype),
            KEPT_EVEN=work.kept_even, EVEN=work.even, BLOCK_KEPT=work.block_kept,
            BLOCK_REDUCED=work.block_reduced, num_warps=warps(work.block_kept * work.block_reduced),
        )  # fmt: skip
