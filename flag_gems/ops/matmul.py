# SPDX-License-Identifier: Apache-2.0
"""``beta * bias + alpha * a @ b`` behind mm, addmm, bmm and baddbmm: limits, sizes, gradients."""

from __future__ import annotations

from typing import Any

import torch

from flag_gems.ops.matmul_launch import launch
from flag_gems.runtime import dtypes, memory, outputs


def compute(
    a: torch.Tensor,
    b: torch.Tensor,
    bias: torch.Tensor | None = None,
    alpha: float = 1.0,
    beta: float = 1.0,
    out: torch.Tensor | None = None,
) -> torch.Tensor:
    """:func:`launch` for any sizes, into ``out`` or a new tensor; differentiable without ``out``.

    ``bias`` is not read when ``beta`` is 0, so that its NaN don't spread.
    """
    if out is None:
        if torch.is_grad_enabled() and (
            a.requires_grad or b.requires_grad or (bias is not None and bias.requires_grad)
        ):
            result: torch.Tensor = _Product.apply(a, b, bias, alpha, beta)
            return result
        out = torch.empty((*a.shape[:-1], b.shape[-1]), dtype=a.dtype, device=a.device)
    if not out.numel():
        return out
    if beta == 0:
        bias = None
    if a.shape[-1] == 0 or alpha == 0:
        # Without a product there is only beta * bias.
        if bias is None:
            return out.zero_()
        return out.copy_(bias.expand(out.shape)).mul_(beta)
    launch(a, b, out, bias, alpha, 1.0 if bias is None else beta)
    return out


def compute_into(
    out: torch.Tensor,
    a: torch.Tensor,
    b: torch.Tensor,
    bias: torch.Tensor | None = None,
    alpha: float = 1.0,
    beta: float = 1.0,
) -> torch.Tensor:
    """:func:`compute` into an ``out`` of any shape (resized as torch does) and any overlap."""
    outputs.resize(out, (*a.shape[:-1], b.shape[-1]))
    if separate(out, a, b, *(() if bias is None else (bias,))):
        return compute(a, b, bias, alpha, beta, out)
    return out.copy_(compute(a, b, bias, alpha, beta))


def out_limit(out: torch.Tensor, *operands: torch.Tensor) -> str | None:
    """Why torch should see to ``out=``: it raises, or the case is rare; else None."""
    if out.dtype != operands[0].dtype or out.device != operands[0].device:
        return "out of another kind"
    if torch.is_grad_enabled() and any(tensor.requires_grad for tensor in (out, *operands)):
        return "gradient with out"
    return memory.form_limit(out)


def separate(out: torch.Tensor, *operands: torch.Tensor) -> bool:
    """Whether ``out`` has room of its own for each element, apart from the operands."""
    storage = out.untyped_storage().data_ptr()
    if any(one.untyped_storage().data_ptr() == storage for one in operands if one.numel()):
        return False
    reached = 0
    for step, size in sorted(zip(out.stride(), out.shape, strict=True)):
        if size > 1:
            if step <= reached:
                return False
            reached += (size - 1) * step
    return True


class _Product(torch.autograd.Function):
    """``beta * bias + alpha * a @ b`` with its gradients, which are products themselves."""

    @staticmethod
    def forward(
        ctx: Any,
        a: torch.Tensor,
        b: torch.Tensor,
        bias: torch.Tensor | None,
        alpha: float,
        beta: float,
    ) -> torch.Tensor:
        ctx.save_for_backward(a, b)
        ctx.scales = (alpha, beta)
        ctx.bias_shape = None if bias is None else bias.shape
        return compute(a, b, bias, alpha, beta)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        a, b = ctx.saved_tensors
        alpha, beta = ctx.scales
        grad_a = compute(grad, b.mT, alpha=alpha) if ctx.needs_input_grad[0] else None
        grad_b = compute(a.mT, grad, alpha=alpha) if ctx.needs_input_grad[1] else None
        grad_bias = None
        if ctx.needs_input_grad[2]:
            grad_bias = (grad * beta).sum_to_size(ctx.bias_shape)
        return grad_a, grad_b, grad_bias, None, None


def limit(a: torch.Tensor, b: torch.Tensor, rank: int = 2) -> str | None:
    """Why ``a @ b`` (of 2 or, for a batch, 3 dimensions) is not for these kernels, or None."""
    if a.dim() != rank or b.dim() != rank or a.shape[-1] != b.shape[-2]:
        return "shapes"
    if rank == 3 and a.shape[0] != b.shape[0]:
        return "shapes"
    if a.dtype != b.dtype or not dtypes.is_floating(a.dtype):
        return f"dtypes {a.dtype}, {b.dtype}"
    return memory.limit(a, b)


def bias_limit(bias: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> str | None:
    """Why ``bias`` can't be added to ``a @ b``, which :func:`limit` lets pass, or None."""
    if bias.dtype != a.dtype:
        return f"dtypes {bias.dtype}, {a.dtype}"
    shape = (*a.shape[:-1], b.shape[-1])
    if bias.dim() > len(shape) or any(
        own not in (1, full)
        for own, full in zip(reversed(bias.shape), reversed(shape), strict=False)
    ):
        return "shapes"
    return memory.limit(a, bias)
