# SPDX-License-Identifier: Apache-2.0
"""Root mean square normalisation (Zhang and Sennrich, 2019) with its backward."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
import triton
import triton.language as tl

from flag_gems.runtime import dtypes, ledger, memory, native
from flag_gems.runtime.launcher import kernel
from flag_gems.runtime.tiling import row_tile, stream_tile, warps


@kernel
def rms_norm_kernel(
    x,
    weight,
    out,
    inverse,
    rows,
    columns,
    eps: tl.constexpr,
    HAS_WEIGHT: tl.constexpr,
    KEEP: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    WHOLE: tl.constexpr,
    COMPUTE: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    lane = tl.arange(0, BLOCK_N)
    valid = (row < rows)[:, None]
    base = row[:, None] * columns
    if WHOLE:
        inside = lane < columns
        mask = valid & inside[None, :]
        value = tl.load(x + base + lane[None, :], mask=mask, other=0.0).to(COMPUTE)
        scale = 1.0 / tl.sqrt(tl.sum(value * value, axis=1) / columns + eps)
        result = value * scale[:, None]
        if HAS_WEIGHT:
            result *= tl.load(weight + lane, mask=inside, other=0.0).to(COMPUTE)[None, :]
        tl.store(out + base + lane[None, :], result, mask=mask)
    else:
        squares = tl.zeros((BLOCK_M, BLOCK_N), COMPUTE)
        for start in range(0, columns, BLOCK_N):
            column = start + lane
            mask = valid & (column < columns)[None, :]
            value = tl.load(x + base + column[None, :], mask=mask, other=0.0).to(COMPUTE)
            squares += value * value
        scale = 1.0 / tl.sqrt(tl.sum(squares, axis=1) / columns + eps)
        for start in range(0, columns, BLOCK_N):
            column = start + lane
            inside = column < columns
            mask = valid & inside[None, :]
            value = tl.load(x + base + column[None, :], mask=mask, other=0.0).to(COMPUTE)
            result = value * scale[:, None]
            if HAS_WEIGHT:
                result *= tl.load(weight + column, mask=inside, other=0.0).to(COMPUTE)[None, :]
            tl.store(out + base + column[None, :], result, mask=mask)
    if KEEP:
        tl.store(inverse + row, scale, mask=row < rows)


@kernel
def rms_norm_input_gradient_kernel(
    grad,
    x,
    weight,
    inverse,
    grad_x,
    rows,
    columns,
    HAS_WEIGHT: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    COMPUTE: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    lane = tl.arange(0, BLOCK_N)
    valid = (row < rows)[:, None]
    base = row[:, None] * columns
    scale = tl.load(inverse + row, mask=row < rows, other=0.0)
    products = tl.zeros((BLOCK_M, BLOCK_N), COMPUTE)
    for start in range(0, columns, BLOCK_N):
        column = start + lane
        mask = valid & (column < columns)[None, :]
        value = tl.load(x + base + column[None, :], mask=mask, other=0.0).to(COMPUTE)
        slope = tl.load(grad + base + column[None, :], mask=mask, other=0.0).to(COMPUTE)
        if HAS_WEIGHT:
            factor = tl.load(weight + column, mask=column < columns, other=0.0).to(COMPUTE)
            slope *= factor[None, :]
        products += slope * value
    share = tl.sum(products, axis=1) / columns * scale * scale
    for start in range(0, columns, BLOCK_N):
        column = start + lane
        mask = valid & (column < columns)[None, :]
        value = tl.load(x + base + column[None, :], mask=mask, other=0.0).to(COMPUTE)
        slope = tl.load(grad + base + column[None, :], mask=mask, other=0.0).to(COMPUTE)
        if HAS_WEIGHT:
            factor = tl.load(weight + column, mask=column < columns, other=0.0).to(COMPUTE)
            slope *= factor[None, :]
        result = (slope - value * share[:, None]) * scale[:, None]
        tl.store(grad_x + base + column[None, :], result, mask=mask)


@kernel
def rms_norm_weight_gradient_kernel(
    grad,
    x,
    inverse,
    partial,
    rows,
    columns,
    rows_per_program,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    COMPUTE: tl.constexpr,
):
    # Program (i, j) sums column tile i over row group j; the caller adds the groups up.
    column = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    group = tl.program_id(1).to(tl.int64)
    lane = tl.arange(0, BLOCK_M)
    first = group * rows_per_program
    last = tl.minimum(first + rows_per_program, rows)
    total = tl.zeros((BLOCK_M, BLOCK_N), COMPUTE)
    for start in range(0, rows_per_program, BLOCK_M):
        row = first + start + lane
        mask = (row < last)[:, None] & (column < columns)[None, :]
        place = row[:, None] * columns + column[None, :]
        value = tl.load(x + place, mask=mask, other=0.0).to(COMPUTE)
        slope = tl.load(grad + place, mask=mask, other=0.0).to(COMPUTE)
        scale = tl.load(inverse + row, mask=row < last, other=0.0)
        total += slope * value * scale[:, None]
    tl.store(partial + group * columns + column, tl.sum(total, axis=0), mask=column < columns)


_ROW_GROUPS = 64
"""Row groups of the weight's gradient: with a tile of columns each they fill a large GPU, and so
few that adding up their partial sums costs little."""


def _forward(
    x: torch.Tensor, weight: torch.Tensor | None, columns: int, eps: float, keep: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """The result and, where ``keep`` asks for it, the reciprocal root mean square of each row."""
    rows = x.numel() // columns if columns else 0
    out = torch.empty_like(x)
    inverse = torch.empty(rows if keep else 0, dtype=dtypes.accumulate(x.dtype), device=x.device)
    if not x.numel():
        return out, inverse
    block_m, block_n, num_warps = stream_tile(rows, columns, x.element_size())
    rms_norm_kernel[(triton.cdiv(rows, block_m),)](
        x,
        x if weight is None else weight,
        out,
        inverse,
        rows,
        columns,
        float(eps),
        HAS_WEIGHT=weight is not None,
        KEEP=keep,
        BLOCK_M=block_m,
        BLOCK_N=block_n,
        WHOLE=block_n >= columns,
        COMPUTE=dtypes.compute(x.dtype),
        num_warps=num_warps,
    )
    return out, inverse


def _input_gradient(
    grad: torch.Tensor,
    x: torch.Tensor,
    weight: torch.Tensor | None,
    inverse: torch.Tensor,
    columns: int,
) -> torch.Tensor:
    grad_x = torch.empty_like(x)
    if not x.numel():
        return grad_x
    rows = inverse.numel()
    block_m, block_n = row_tile(rows, columns, contiguous=True)
    rms_norm_input_gradient_kernel[(triton.cdiv(rows, block_m),)](
        grad,
        x,
        x if weight is None else weight,
        inverse,
        grad_x,
        rows,
        columns,
        HAS_WEIGHT=weight is not None,
        BLOCK_M=block_m,
        BLOCK_N=block_n,
        COMPUTE=dtypes.compute(x.dtype),
        num_warps=warps(block_m * block_n),
    )
    return grad_x


def _weight_gradient(
    grad: torch.Tensor, x: torch.Tensor, inverse: torch.Tensor, weight: torch.Tensor
) -> torch.Tensor:
    rows, columns = inverse.numel(), weight.numel()
    if not x.numel():
        return torch.zeros_like(weight)
    block_m, block_n = row_tile(rows, columns, contiguous=False)
    groups = min(triton.cdiv(rows, block_m), _ROW_GROUPS)
    partial = torch.empty((groups, columns), dtype=inverse.dtype, device=x.device)
    rms_norm_weight_gradient_kernel[(triton.cdiv(columns, block_n), groups)](
        grad,
        x,
        inverse,
        partial,
        rows,
        columns,
        triton.cdiv(rows, groups),
        BLOCK_M=block_m,
        BLOCK_N=block_n,
        COMPUTE=dtypes.compute(x.dtype),
        num_warps=warps(block_m * block_n),
    )
    return partial.sum(0).to(weight.dtype).view(weight.shape)


def _differentiable_backward(
    grad: torch.Tensor,
    x: torch.Tensor,
    weight: torch.Tensor | None,
    shape: tuple[int, int],
    eps: float,
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """The gradients in torch's operators, for backwards that are differentiated again."""
    wide = dtypes.accumulate(x.dtype)
    rows = x.to(wide).reshape(shape)
    slope = grad.to(wide).reshape(shape)
    scale = torch.rsqrt(rows.square().mean(1, keepdim=True) + eps)
    normal = rows * scale
    grad_weight = None
    if weight is not None:
        grad_weight = (slope * normal).sum(0).to(weight.dtype).view(weight.shape)
        slope = slope * weight.to(wide).reshape(-1)
    grad_x = scale * (slope - normal * (slope * normal).mean(1, keepdim=True))
    return grad_x.to(x.dtype).view(x.shape), grad_weight


class _RmsNorm(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, x: torch.Tensor, weight: torch.Tensor | None, columns: int, eps: float
    ) -> torch.Tensor:
        out, inverse = _forward(x, weight, columns, eps, keep=True)
        ctx.save_for_backward(x, weight, inverse)
        ctx.columns = columns
        ctx.eps = eps
        return out

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> Any:
        x, weight, inverse = ctx.saved_tensors
        if torch.is_grad_enabled():
            shape = (inverse.numel(), ctx.columns)
            return *_differentiable_backward(grads[0], x, weight, shape, ctx.eps), None, None
        grad = grads[0].resolve_neg().contiguous()
        needs_x, needs_weight, *_ = ctx.needs_input_grad
        grad_x = _input_gradient(grad, x, weight, inverse, ctx.columns) if needs_x else None
        grad_weight = _weight_gradient(grad, x, inverse, weight) if needs_weight else None
        return grad_x, grad_weight, None, None


# What follows until rms_norm is the operator as one step of a compiled graph. A direct call does
# without it: torch's dispatcher costs more than the launch.


@torch.library.custom_op(
    "flag_gems_python::rms_norm",
    mutates_args=(),
    schema="(Tensor x, Tensor? weight, int columns, float eps) -> (Tensor, Tensor)",
)
def _rms_norm(
    x: torch.Tensor, weight: torch.Tensor | None, columns: int, eps: float
) -> tuple[torch.Tensor, torch.Tensor]:
    ledger.record("rms_norm", "gems")
    return _forward(x, weight, columns, eps, keep=True)


@_rms_norm.register_fake
def _(
    x: torch.Tensor, weight: torch.Tensor | None, columns: int, eps: float
) -> tuple[torch.Tensor, torch.Tensor]:
    inverse = x.new_empty(x.numel() // max(columns, 1), dtype=dtypes.accumulate(x.dtype))
    return torch.empty_like(x), inverse


@torch.library.custom_op(
    "flag_gems_python::rms_norm_backward",
    mutates_args=(),
    schema="(Tensor grad, Tensor x, Tensor? weight, Tensor inverse, int columns)"
    " -> (Tensor, Tensor)",
)
def _rms_norm_backward(
    grad: torch.Tensor,
    x: torch.Tensor,
    weight: torch.Tensor | None,
    inverse: torch.Tensor,
    columns: int,
) -> tuple[torch.Tensor, torch.Tensor]:
    grad = grad.contiguous()
    grad_x = _input_gradient(grad, x, weight, inverse, columns)
    if weight is None:
        return grad_x, grad_x.new_empty(0)
    return grad_x, _weight_gradient(grad, x, inverse, weight)


@_rms_norm_backward.register_fake
def _(
    grad: torch.Tensor,
    x: torch.Tensor,
    weight: torch.Tensor | None,
    inverse: torch.Tensor,
    columns: int,
) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.empty_like(x), x.new_empty(0) if weight is None else torch.empty_like(weight)


def _keep(ctx: Any, inputs: tuple[Any, ...], output: tuple[torch.Tensor, torch.Tensor]) -> None:
    x, weight, ctx.columns, _ = inputs
    ctx.save_for_backward(x, weight, output[1])


def _gradients(ctx: Any, grad: torch.Tensor, _: torch.Tensor) -> Any:
    x, weight, inverse = ctx.saved_tensors
    grad_x, grad_weight = _rms_norm_backward(grad, x, weight, inverse, ctx.columns)
    return grad_x, None if weight is None else grad_weight, None, None


_rms_norm.register_autograd(_gradients, setup_context=_keep)


def rms_norm(
    x: torch.Tensor,
    normalized_shape: int | Sequence[int],
    weight: torch.Tensor | None = None,
    eps: float = 1e-5,
) -> torch.Tensor:
    """``x / sqrt(mean(x * x) + eps) * weight`` over the trailing dimensions ``normalized_shape``.

    Args:
        x: [..., *normalized_shape], floating, any strides.
        weight: shape ``normalized_shape``, floating; None leaves the product out.
        eps: added to the mean of squares.

    Returns:
        A contiguous tensor of the shape and dtype of ``x``, computed in float32 (float64 for
        float64). Differentiable with respect to ``x`` and ``weight``; the second derivative runs on
        torch's own operators.

    Raises:
        ValueError: the shapes do not fit together.
        TypeError: a dtype is not floating.
        RuntimeError: whatever torch raises for layouts or devices that do not fit together.
    """
    shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
    if not shape or tuple(x.shape[-len(shape) :]) != shape:
        raise ValueError(
            f"rms_norm: x of shape {tuple(x.shape)} does not end in normalized_shape {shape}"
        )
    if weight is not None and tuple(weight.shape) != shape:
        raise ValueError(
            f"rms_norm: weight has shape {tuple(weight.shape)}, normalized_shape is {shape}"
        )
    for name, tensor in (("x", x), ("weight", weight)):
        if tensor is not None and not dtypes.is_floating(tensor.dtype):
            raise TypeError(f"rms_norm: {name} is {tensor.dtype}, not a floating dtype")
    reason = memory.limit(x, weight)
    if reason is not None:
        return native.call("rms_norm", reason, x, list(shape), weight, eps)
    x = x.contiguous()
    weight = None if weight is None else weight.contiguous()
    columns = math.prod(shape)
    if torch.compiler.is_compiling():
        return _rms_norm(x, weight, columns, float(eps))[0]
    ledger.record("rms_norm", "gems")
    if torch.is_grad_enabled() and (
        x.requires_grad or (weight is not None and weight.requires_grad)
    ):
        return _RmsNorm.apply(x, weight, columns, eps)
    return _forward(x, weight, columns, eps, keep=False)[0]
