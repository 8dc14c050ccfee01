# SPDX-License-Identifier: Apache-2.0
"""A product of two matrices, or of batches of them, added to a third: addmm and baddbmm."""

from __future__ import annotations

from collections.abc import Callable

import torch

from flag_gems.ops import matmul
from flag_gems.ops.matmul_tuning import TUNING as TUNING
from flag_gems.runtime import ledger, native

Number = int | float


def _limit(
    rank: int, input: torch.Tensor, a: torch.Tensor, b: torch.Tensor, beta: Number, alpha: Number
) -> str | None:
    if isinstance(beta, complex) or isinstance(alpha, complex):
        return "complex scale"
    return matmul.limit(a, b, rank) or matmul.bias_limit(input, a, b)


def _new(key: str, rank: int) -> Callable[..., torch.Tensor]:
    def added(
        input: torch.Tensor,
        mat1: torch.Tensor,
        mat2: torch.Tensor,
        beta: Number,
        alpha: Number,
    ) -> torch.Tensor:
        reason = _limit(rank, input, mat1, mat2, beta, alpha)
        if reason is not None:
            return native.call(key, reason, input, mat1, mat2, beta=beta, alpha=alpha)
        ledger.record(key, "gems")
        return matmul.compute(mat1, mat2, input, alpha, beta)

    return added


def _into(key: str, rank: int) -> Callable[..., torch.Tensor]:
    def added(
        input: torch.Tensor,
        mat1: torch.Tensor,
        mat2: torch.Tensor,
        beta: Number,
        alpha: Number,
        out: torch.Tensor,
    ) -> torch.Tensor:
        reason = _limit(rank, input, mat1, mat2, beta, alpha)
        reason = reason or matmul.out_limit(out, mat1, mat2, input)
        if reason is not None:
            return native.call(key, reason, input, mat1, mat2, beta=beta, alpha=alpha, out=out)
        ledger.record(key, "gems")
        return matmul.compute_into(out, mat1, mat2, input, alpha, beta)

    return added


def _in_place(key: str, rank: int) -> Callable[..., torch.Tensor]:
    def added(
        input: torch.Tensor,
        mat1: torch.Tensor,
        mat2: torch.Tensor,
        beta: Number,
        alpha: Number,
    ) -> torch.Tensor:
        reason = _limit(rank, input, mat1, mat2, beta, alpha)
        if reason is None and tuple(input.shape) != (*mat1.shape[:-1], mat2.shape[-1]):
            reason = "shapes"
        if reason is None and not matmul.separate(input, mat1, mat2):
            reason = "overlap"
        if reason is None and torch.is_grad_enabled():
            taped = any(tensor.requires_grad for tensor in (input, mat1, mat2))
            reason = "gradient in place" if taped else None
        if reason is not None:
            return native.call(key, reason, input, mat1, mat2, beta=beta, alpha=alpha)
        ledger.record(key, "gems")
        return matmul.compute(mat1, mat2, input, alpha, beta, out=input)

    return added


_addmm, _addmm_out, _addmm_ = _new("addmm", 2), _into("addmm.out", 2), _in_place("addmm_", 2)
_baddbmm, _baddbmm_out, _baddbmm_ = (
    _new("baddbmm", 3),
    _into("baddbmm.out", 3),
    _in_place("baddbmm_", 3),
)


def addmm(
    input: torch.Tensor,
    mat1: torch.Tensor,
    mat2: torch.Tensor,
    *,
    beta: Number = 1,
    alpha: Number = 1,
) -> torch.Tensor:
    """``beta * input + alpha * (mat1 @ mat2)``; differentiable.

    Args:
        input: broadcastable to [M, N]; not read when ``beta`` is 0, so that its NaN do not spread.
        mat1: [M, K].
        mat2: [K, N]. All have one floating dtype; other dtypes go to torch.

    Raises:
        RuntimeError: whatever torch raises for shapes, dtypes or devices that do not fit together.
    """
    return _addmm(input, mat1, mat2, beta, alpha)


def addmm_out(
    input: torch.Tensor,
    mat1: torch.Tensor,
    mat2: torch.Tensor,
    *,
    beta: Number = 1,
    alpha: Number = 1,
    out: torch.Tensor,
) -> torch.Tensor:
    """:func:`addmm` into ``out``, resized where its shape differs.

    Raises:
        RuntimeError: whatever torch raises for arguments that do not fit together.
    """
    return _addmm_out(input, mat1, mat2, beta, alpha, out)


def addmm_(
    input: torch.Tensor,
    mat1: torch.Tensor,
    mat2: torch.Tensor,
    *,
    beta: Number = 1,
    alpha: Number = 1,
) -> torch.Tensor:
    """:func:`addmm` in place; returns ``input``, which has the full shape [M, N].

    Raises:
        RuntimeError: whatever torch raises for arguments that do not fit together, or that overlap.
    """
    return _addmm_(input, mat1, mat2, beta, alpha)


def baddbmm(
    input: torch.Tensor,
    batch1: torch.Tensor,
    batch2: torch.Tensor,
    *,
    beta: Number = 1,
    alpha: Number = 1,
) -> torch.Tensor:
    """:func:`addmm` of each of a batch: [B, M, K] by [B, K, N], ``input`` broadcast to [B, M, N].

    Raises:
        RuntimeError: whatever torch raises for arguments that do not fit together.
    """
    return _baddbmm(input, batch1, batch2, beta, alpha)


def baddbmm_out(
    input: torch.Tensor,
    batch1: torch.Tensor,
    batch2: torch.Tensor,
    *,
    beta: Number = 1,
    alpha: Number = 1,
    out: torch.Tensor,
) -> torch.Tensor:
    """:func:`baddbmm` into ``out``, resized where its shape differs.

    Raises:
        RuntimeError: whatever torch raises for arguments that do not fit together.
    """
    return _baddbmm_out(input, batch1, batch2, beta, alpha, out)


def baddbmm_(
    input: torch.Tensor,
    batch1: torch.Tensor,
    batch2: torch.Tensor,
    *,
    beta: Number = 1,
    alpha: Number = 1,
) -> torch.Tensor:
    """:func:`baddbmm` in place; returns ``input``, which has the full shape [B, M, N].

    Raises:
        RuntimeError: whatever torch raises for arguments that do not fit together, or that overlap.
    """
    return _baddbmm_(input, batch1, batch2, beta, alpha)
