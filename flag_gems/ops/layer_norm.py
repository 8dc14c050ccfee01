# SPDX-License-Identifier: Apache-2.0
"""Layer normalisation (Ba, Kiros and Hinton, 2016)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
import triton
import triton.language as tl

from flag_gems.runtime import device, dtypes, ledger, memory, native, torch_device_fn
from flag_gems.runtime.tiling import row_tile, warps


@triton.jit
def layer_norm_kernel(
    x,
    weight,
    bias,
    out,
    mean,
    inverse,
    rows,
    columns,
    eps: tl.constexpr,
    HAS_WEIGHT: tl.constexpr,
    HAS_BIAS: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    COMPUTE: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    lane = tl.arange(0, BLOCK_N)
    valid = (row < rows)[:, None]
    base = row[:, None] * columns
    # Two passes: subtracting the squared mean from the mean of squares would lose all digits of
    # rows far from zero. A row that fits the tile is read again from cache.
    total = tl.zeros((BLOCK_M, BLOCK_N), COMPUTE)
    for start in range(0, columns, BLOCK_N):
        column = start + lane
        mask = valid & (column < columns)[None, :]
        total += tl.load(x + base + column[None, :], mask=mask, other=0.0).to(COMPUTE)
    centre = tl.sum(total, axis=1) / columns
    squares = tl.zeros((BLOCK_M, BLOCK_N), COMPUTE)
    for start in range(0, columns, BLOCK_N):
        column = start + lane
        mask = valid & (column < columns)[None, :]
        value = tl.load(x + base + column[None, :], mask=mask, other=0.0).to(COMPUTE)
        distance = tl.where(mask, value - centre[:, None], 0.0)
        squares += distance * distance
    scale = 1.0 / tl.sqrt(tl.sum(squares, axis=1) / columns + eps)
    for start in range(0, columns, BLOCK_N):
        column = start + lane
        inside = column < columns
        mask = valid & inside[None, :]
        value = tl.load(x + base + column[None, :], mask=mask, other=0.0).to(COMPUTE)
        result = (value - centre[:, None]) * scale[:, None]
        if HAS_WEIGHT:
            result *= tl.load(weight + column, mask=inside, other=0.0).to(COMPUTE)[None, :]
        if HAS_BIAS:
            result += tl.load(bias + column, mask=inside, other=0.0).to(COMPUTE)[None, :]
        tl.store(out + base + column[None, :], result, mask=mask)
    tl.store(mean + row, centre, mask=row < rows)
    tl.store(inverse + row, scale, mask=row < rows)


def _limit(
    input: torch.Tensor,
    shape: tuple[int, ...],
    weight: torch.Tensor | None,
    bias: torch.Tensor | None,
) -> str | None:
    if not shape or tuple(input.shape[-len(shape) :]) != shape:
        return "shapes"
    for tensor in (input, weight, bias):
        if tensor is not None and not dtypes.is_floating(tensor.dtype):
            return f"dtype {tensor.dtype}"
    reason = memory.limit(input, weight, bias)
    if reason is not None:
        return reason
    for tensor in (weight, bias):
        if tensor is None:
            continue
        if tuple(tensor.shape) != shape:
            return "shapes"
        if tensor.dtype not in (input.dtype, torch.float32):
            return "mixed dtypes"
    if weight is not None and bias is not None and weight.dtype != bias.dtype:
        return "mixed dtypes"
    if input.dtype is torch.float64 and any(
        tensor is not None and tensor.dtype is not torch.float64 for tensor in (weight, bias)
    ):
        return "mixed dtypes"
    return None


def _statistics_dtype(
    input: torch.Tensor, weight: torch.Tensor | None, bias: torch.Tensor | None
) -> torch.dtype:
    """The dtype torch's own backward expects mean and rstd in.

    A GPU keeps them in float32 for half types, the CPU only where weight or bias are float32.
    """
    if input.dtype not in (torch.float16, torch.bfloat16):
        return input.dtype
    mixed = any(tensor is not None and tensor.dtype != input.dtype for tensor in (weight, bias))
    return torch.float32 if mixed or device.name != "cpu" else input.dtype


def native_layer_norm(
    input: torch.Tensor,
    normalized_shape: Sequence[int],
    weight: torch.Tensor | None,
    bias: torch.Tensor | None,
    eps: float,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """ATen's ``native_layer_norm``; forward only.

    Args:
        input: [..., *normalized_shape], floating, any strides.
        normalized_shape: the trailing dimensions to normalise over.
        weight, bias: shape ``normalized_shape``, dtype of ``input`` or float32; None leaves them
            out.
        eps: added to the variance.

    Returns:
        The result (shape and dtype of ``input``, contiguous), mean and reciprocal standard
        deviation of each row, with the normalised dimensions kept as 1.

    Raises:
        RuntimeError: whatever torch raises for arguments that do not fit together.
    """
    shape = tuple(normalized_shape)
    reason = _limit(input, shape, weight, bias)
    if reason is not None:
        return native.call("native_layer_norm", reason, input, list(shape), weight, bias, eps)
    columns = math.prod(shape)
    rows = input.numel() // columns if columns else math.prod(input.shape[: -len(shape)])
    if rows and not columns:
        return native.call("native_layer_norm", "empty rows", input, list(shape), weight, bias, eps)
    ledger.record("native_layer_norm", "gems")
    leading = input.shape[: input.dim() - len(shape)]
    source = input.contiguous()
    out = torch.empty_like(source)
    kept = (*leading, *(1 for _ in shape))
    mean = torch.empty(kept, dtype=_statistics_dtype(input, weight, bias), device=input.device)
    inverse = torch.empty_like(mean)
    if not rows:
        return out, mean, inverse
    block_m, block_n = row_tile(rows, columns, contiguous=True)
    with torch_device_fn.device(input.device):
        layer_norm_kernel[(triton.cdiv(rows, block_m),)](
            source,
            source if weight is None else weight.contiguous(),
            source if bias is None else bias.contiguous(),
            out,
            mean,
            inverse,
            rows,
            columns,
            float(eps),
            HAS_WEIGHT=weight is not None,
            HAS_BIAS=bias is not None,
            BLOCK_M=block_m,
            BLOCK_N=block_n,
            COMPUTE=dtypes.compute(input.dtype),
            num_warps=warps(block_m * block_n),
        )
    return out, mean, inverse


class _LayerNorm(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        input: torch.Tensor,
        shape: tuple[int, ...],
        weight: torch.Tensor | None,
        bias: torch.Tensor | None,
        eps: float,
    ) -> torch.Tensor:
        out, mean, inverse = native_layer_norm(input, shape, weight, bias, eps)
        ctx.save_for_backward(input, mean, inverse, weight, bias)
        ctx.shape = shape
        return out

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> Any:
        input, mean, inverse, weight, bias = ctx.saved_tensors
        needs_input, _, needs_weight, needs_bias, _ = ctx.needs_input_grad
        grad_input, grad_weight, grad_bias = torch.ops.aten.native_layer_norm_backward(
            grads[0].contiguous(),
            input.contiguous(),
            list(ctx.shape),
            mean,
            inverse,
            weight,
            bias,
            [needs_input, needs_weight, needs_bias],
        )
        return grad_input, None, grad_weight, grad_bias, None


def layer_norm(
    input: torch.Tensor,
    normalized_shape: int | Sequence[int],
    weight: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
    eps: float = 1e-5,
) -> torch.Tensor:
    """``(input - mean) / sqrt(variance + eps) * weight + bias`` over the trailing dimensions.

    Arguments and errors are those of :func:`native_layer_norm`. Differentiable; the backward
    is torch's own kernel.
    """
    shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
    needs = any(tensor is not None and tensor.requires_grad for tensor in (input, weight, bias))
    if needs and torch.is_grad_enabled():
        return _LayerNorm.apply(input, shape, weight, bias, eps)
    return native_layer_norm(input, shape, weight, bias, eps)[0]
