# SPDX-License-Identifier: Apache-2.0
"""A reduction of values: how values are combined, from what and to what dtype."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from flag_gems.runtime import dtypes, ledger, native, pointwise
from flag_gems.runtime.memory import resize_out
from flag_gems.runtime.reductions.dims import Dims, result_shape, wrapped
from flag_gems.runtime.reductions.kernels import value_kernel
from flag_gems.runtime.reductions.plan import plan
from flag_gems.runtime.tiling import warps


@dataclass(frozen=True)
class Reduction:
    """A reduction of ATen to one value for each kept element.

    ``operator(key, input, dim, keepdim, dtype=None, out=None)`` computes it; what a kernel can't
    do is torch's.
    """

    how: str
    """How values are combined, as the kernel names it: sum, prod, max, min, any, all."""
    identity: Callable[[torch.dtype], int | float]
    """What changes nothing when it is combined, for a dtype that values accumulate in."""
    result: Callable[[torch.dtype], torch.dtype]
    """The result's dtype where none is asked for."""
    truth: bool = False
    """Whether values are first compared with 0."""
    mean: bool = False
    """Whether the combination is divided by the number of elements."""
    empty: int | float | None = None
    """The result of nothing; None where that is torch's affair."""
    limit: Callable[[torch.dtype, torch.dtype], str | None] = lambda source, result: None
    """Why dtypes of input and result go to torch, most often to its error."""

    def __call__(
        self,
        key: str,
        input: torch.Tensor,
        dim: Dims = None,
        keepdim: bool = False,
        *,
        dtype: torch.dtype | None = None,
        out: torch.Tensor | None = None,
        handed: tuple[tuple[Any, ...], Mapping[str, Any]] = ((), {}),
    ) -> torch.Tensor:
        """Reduces ``input`` over ``dim``, or hands it to torch's kernel of the ATen ``key``.

        Args:
            dtype: of the result; the input is taken as if it had been converted to it.
            out: where the result goes, resized where its shape differs.
            handed: the arguments behind ``input`` that torch is given.
        """
        reason = pointwise.limit(input)
        target = dtype or self.result(input.dtype)
        dims = wrapped(dim, input.dim())
        if reason is None and not dtypes.is_real(target):
            reason = f"dtype {target}"
        if reason is None:
            reason = self.limit(input.dtype, target)
        if dims is None:
            reason = reason or "dims"
        elif (
            reason is None
            and self.empty is None
            and not math.prod(input.shape[one] for one in dims)
        ):
            reason = "nothing to reduce"
        if reason is None and out is not None:
            reason = "out of another kind" if out.dtype != target else None
            reason = reason or pointwise.write_limit(out, [input], target, False)
        if reason is not None:
            rest, named = handed
            return native.call(key, reason, input, *rest, **named)
        ledger.record(key, "gems")
        assert dims is not None
        shape = result_shape(input.shape, dims, keepdim)
        if out is not None:
            resize_out(out, shape)
        result = out
        if out is None or not out.is_contiguous():
            result = torch.empty(shape, dtype=target, device=input.device)
        assert result is not None
        if result.numel():
            if not input.numel():
                result.fill_(self.empty if self.empty is not None else math.nan)
            else:
                self._reduce(input, dims, result)
        if out is not None and result is not out:
            out.copy_(result)
            return out
        return result

    def _reduce(self, source: torch.Tensor, dims: tuple[int, ...], out: torch.Tensor) -> None:
        """Reduces a non-empty ``source`` over ``dims`` into a contiguous ``out``."""
        count = math.prod(source.shape[one] for one in dims)
        accumulate = _accumulator(out.dtype)
        truth = self.truth
        work = plan(source, dims)
        while work.splits > 1:
            partial = torch.empty(
                (work.splits, work.kept.size), dtype=accumulate, device=source.device
            )
            self._launch(work, partial, accumulate, truth, False, count)
            truth = False
            work = plan(partial, (0,))
        self._launch(work, out, accumulate, truth, self.mean, count)

    def _launch(
        self,
        work: Any,
        out: torch.Tensor,
        accumulate: torch.dtype,
        truth: bool,
        mean: bool,
        count: int,
    ) -> None:
        value_kernel[work.grid](
            work.source, out, *work.numbers, count,
            HOW=self.how, TRUTH=truth, MEAN=mean, IDENTITY=self.identity(accumulate),
            ACCUMULATE=dtypes.compute(accumulate), KEPT_EVEN=work.kept_even, EVEN=work.even,
            BLOCK_KEPT=work.block_kept, BLOCK_REDUCED=work.block_reduced,
            num_warps=warps(work.block_kept * work.block_reduced),
        )  # fmt: skip


def _accumulator(dtype: torch.dtype) -> torch.dtype:
    """Half types accumulate in float32, small integers and bool in int32."""
    if dtype in (torch.float16, torch.bfloat16):
        return torch.float32
    if dtype is torch.bool or (dtypes.is_integral(dtype) and dtype.itemsize < 4):
        return torch.int32
    return dtype
