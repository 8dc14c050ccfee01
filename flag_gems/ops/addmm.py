# SPDX-License-Identifier: Apache-2.0
"""A product of two matrices added to a third, into a new tensor or in place."""

from __future__ import annotations

import torch

from flag_gems.ops import matmul
from flag_gems.runtime import ledger, memory, native
from flag_gems.runtime.geometry import is_dense

Number = int | float


def _limit(
    input: torch.Tensor, mat1: torch.Tensor, mat2: torch.Tensor, *scales: Number
) -> str | None:
    reason = matmul.limit(mat1, mat2)
    if reason is not None:
        return reason
    if input.dtype != mat1.dtype:
        return f"dtypes {input.dtype}, {mat1.dtype}"
    reason = memory.limit(mat1, input)
    if reason is not None:
        return reason
    shape = (mat1.shape[0], mat2.shape[1])
    if input.dim() > 2 or any(
        own not in (1, full)
        for own, full in zip(reversed(input.shape), reversed(shape), strict=False)
    ):
        return "shapes"
    if any(isinstance(scale, complex) for scale in scales):
        return "complex scale"
    return None


def _compute(
    out: torch.Tensor,
    input: torch.Tensor,
    mat1: torch.Tensor,
    mat2: torch.Tensor,
    beta: Number,
    alpha: Number,
) -> None:
    if not out.numel():
        return
    if mat1.shape[1] == 0 or alpha == 0:
        # Without a product there is only beta * input; beta 0 must not let a NaN of input through.
        if beta == 0:
            out.zero_()
        else:
            out.copy_(input.expand(out.shape)).mul_(beta)
        return
    bias = None if beta == 0 else input
    matmul.launch(mat1, mat2, out, bias, float(alpha), 1.0 if bias is None else float(beta))


def addmm(
    input: torch.Tensor,
    mat1: torch.Tensor,
    mat2: torch.Tensor,
    *,
    beta: Number = 1,
    alpha: Number = 1,
) -> torch.Tensor:
    """``beta * input + alpha * (mat1 @ mat2)``; forward only.

    Args:
        input: broadcastable to [M, N]; not read when ``beta`` is 0, so that its NaN do not spread.
        mat1: [M, K].
        mat2: [K, N]. All have one floating dtype; other dtypes go to torch.

    Raises:
        RuntimeError: whatever torch raises for shapes, dtypes or devices that do not fit together.
    """
    reason = _limit(input, mat1, mat2, beta, alpha)
    if reason is not None:
        return native.call("addmm", reason, input, mat1, mat2, beta=beta, alpha=alpha)
    ledger.record("addmm", "gems")
    out = mat1.new_empty((mat1.shape[0], mat2.shape[1]))
    _compute(out, input, mat1, mat2, beta, alpha)
    return out


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
    reason = _limit(input, mat1, mat2, beta, alpha)
    if reason is None and (out.dtype != mat1.dtype or out.device != mat1.device):
        reason = "out of another kind"
    if reason is not None:
        return native.call("addmm.out", reason, input, mat1, mat2, beta=beta, alpha=alpha, out=out)
    result = addmm(input, mat1, mat2, beta=beta, alpha=alpha)
    if out.shape != result.shape:
        out.resize_(result.shape)
    return out.copy_(result)


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
    reason = _limit(input, mat1, mat2, beta, alpha)
    if reason is None and tuple(input.shape) != (mat1.shape[0], mat2.shape[1]):
        reason = "shapes"
    if reason is None and not _separate(input, mat1, mat2):
        reason = "overlap"
    if reason is None and input.requires_grad and torch.is_grad_enabled():
        reason = "gradient in place"
    if reason is not None:
        return native.call("addmm_", reason, input, mat1, mat2, beta=beta, alpha=alpha)
    ledger.record("addmm_", "gems")
    _compute(input, input, mat1, mat2, beta, alpha)
    return input


def _separate(input: torch.Tensor, *factors: torch.Tensor) -> bool:
    """Whether ``input`` can be written while the factors are read."""
    storage = input.untyped_storage().data_ptr()
    if any(factor.untyped_storage().data_ptr() == storage for factor in factors if factor.numel()):
        return False
    return is_dense(input) or _rows_apart(input)


def _rows_apart(input: torch.Tensor) -> bool:
    (size_outer, outer), (size_inner, inner) = sorted(
        zip(input.shape, input.stride(), strict=True), key=lambda pair: -pair[1]
    )
    return (inner > 0 or size_inner == 1) and (outer > (size_inner - 1) * inner or size_outer == 1)
