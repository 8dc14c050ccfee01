# SPDX-License-Identifier: Apache-2.0
"""Softmax along any dimension, and its backward.

Rows that fit a program are read once. Longer ones are read twice, with the running maximum and sum
of the online normaliser (Milakov and Gimelshein, 2018).
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from flag_gems.runtime import dtypes, ledger, memory, native
from flag_gems.runtime.geometry import Grid2, grid2, wrap_dim
from flag_gems.runtime.launcher import kernel
from flag_gems.runtime.tiling import stream_tile


@kernel
def softmax_kernel(
    x,
    out,
    rows,
    columns,
    inner,
    x_outer,
    x_inner,
    x_step,
    out_outer,
    out_inner,
    out_step,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    WHOLE: tl.constexpr,
    COMPUTE: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    lane = tl.arange(0, BLOCK_N).to(tl.int64)
    valid = (row < rows)[:, None]
    # Rows past the last repeat it: every lane of the tile then holds numbers that make sense.
    row = tl.minimum(row, rows - 1)
    x_row = x + (row // inner * x_outer + row % inner * x_inner)[:, None]
    out_row = out + (row // inner * out_outer + row % inner * out_inner)[:, None]
    if WHOLE:
        inside = (lane < columns)[None, :]
        value = tl.load(x_row + lane[None, :] * x_step, mask=inside, other=0).to(COMPUTE)
        # After the conversion, because an integer has no -inf.
        value = tl.where(inside, value, -float("inf"))
        power = tl.exp(value - tl.max(value, axis=1)[:, None])
        result = power / tl.sum(power, axis=1)[:, None]
        tl.store(out_row + lane[None, :] * out_step, result, mask=valid & inside)
    else:
        peak = tl.full((BLOCK_M,), -float("inf"), COMPUTE)
        total = tl.zeros((BLOCK_M,), COMPUTE)
        for start in range(0, columns, BLOCK_N):
            column = start + lane
            inside = (column < columns)[None, :]
            value = tl.load(x_row + column[None, :] * x_step, mask=inside, other=0).to(COMPUTE)
            value = tl.where(inside, value, -float("inf"))
            higher = tl.maximum(peak, tl.max(value, axis=1))
            # While a row has shown nothing but -inf there is no finite maximum to subtract.
            shift = tl.where(higher == -float("inf"), 0.0, higher)
            power = tl.exp(value - shift[:, None])
            total = total * tl.exp(peak - shift) + tl.sum(power, axis=1)
            peak = higher
        shift = tl.where(peak == -float("inf"), 0.0, peak)
        for start in range(0, columns, BLOCK_N):
            column = start + lane
            mask = valid & (column < columns)[None, :]
            value = tl.load(x_row + column[None, :] * x_step, mask=mask, other=0).to(COMPUTE)
            result = tl.exp(value - shift[:, None]) / total[:, None]
            tl.store(out_row + column[None, :] * out_step, result, mask=mask)


@kernel
def softmax_backward_kernel(
    grad,
    y,
    out,
    rows,
    columns,
    inner,
    grad_outer,
    grad_inner,
    grad_step,
    y_outer,
    y_inner,
    y_step,
    out_outer,
    out_inner,
    out_step,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    WHOLE: tl.constexpr,
    COMPUTE: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    lane = tl.arange(0, BLOCK_N).to(tl.int64)
    valid = (row < rows)[:, None]
    i = row // inner
    j = row % inner
    grad_row = grad + (i * grad_outer + j * grad_inner)[:, None]
    y_row = y + (i * y_outer + j * y_inner)[:, None]
    out_row = out + (i * out_outer + j * out_inner)[:, None]
    if WHOLE:
        mask = valid & (lane < columns)[None, :]
        g = tl.load(grad_row + lane[None, :] * grad_step, mask=mask, other=0.0).to(COMPUTE)
        p = tl.load(y_row + lane[None, :] * y_step, mask=mask, other=0.0).to(COMPUTE)
        result = p * (g - tl.sum(g * p, axis=1)[:, None])
        tl.store(out_row + lane[None, :] * out_step, result, mask=mask)
    else:
        products = tl.zeros((BLOCK_M, BLOCK_N), COMPUTE)
        for start in range(0, columns, BLOCK_N):
            column = start + lane
            mask = valid & (column < columns)[None, :]
            g = tl.load(grad_row + column[None, :] * grad_step, mask=mask, other=0.0).to(COMPUTE)
            p = tl.load(y_row + column[None, :] * y_step, mask=mask, other=0.0).to(COMPUTE)
            products += g * p
        total = tl.sum(products, axis=1)
        for start in range(0, columns, BLOCK_N):
            column = start + lane
            mask = valid & (column < columns)[None, :]
            g = tl.load(grad_row + column[None, :] * grad_step, mask=mask, other=0.0).to(COMPUTE)
            p = tl.load(y_row + column[None, :] * y_step, mask=mask, other=0.0).to(COMPUTE)
            tl.store(out_row + column[None, :] * out_step, p * (g - total[:, None]), mask=mask)


def _rows(tensors: list[torch.Tensor], dim: int) -> tuple[list[torch.Tensor], Grid2, list[int]]:
    """The tensors (copied where their strides are too irregular), the rows and the row steps."""
    for regular in (False, True):
        attempt = [tensor.contiguous() for tensor in tensors] if regular else tensors
        sizes = [size for index, size in enumerate(attempt[0].shape) if index != dim]
        strides = [
            [stride for index, stride in enumerate(tensor.stride()) if index != dim]
            for tensor in attempt
        ]
        rows = grid2(sizes, strides)
        if rows is not None:
            return attempt, rows, [tensor.stride(dim) for tensor in attempt]
    raise AssertionError("contiguous tensors have at most two groups of dimensions around one")


def _launch(launchable: Any, inputs: list[torch.Tensor], out: torch.Tensor, dim: int) -> None:
    if out.dim() == 0:
        inputs, out, dim = [tensor.reshape(1) for tensor in inputs], out.view(1), 0
    (*inputs, _), rows, steps = _rows([*inputs, out], dim)
    columns = out.shape[dim]
    block_m, block_n, num_warps = stream_tile(
        rows.size, columns, out.element_size(), contiguous=steps[0] == 1 or columns == 1
    )
    geometry = [
        number
        for index, step in enumerate(steps)
        for number in (rows.outer[index], rows.inner[index], step)
    ]
    launchable[(triton.cdiv(rows.size, block_m),)](
        *inputs,
        out,
        rows.size,
        columns,
        rows.inner_size,
        *geometry,
        BLOCK_M=block_m,
        BLOCK_N=block_n,
        WHOLE=block_n >= columns,
        COMPUTE=dtypes.compute(torch.promote_types(inputs[0].dtype, out.dtype)),
        num_warps=num_warps,
    )


def _forward(input: torch.Tensor, dim: int, dtype: torch.dtype) -> torch.Tensor:
    out = torch.empty(input.shape, dtype=dtype, device=input.device)
    if out.numel():
        _launch(softmax_kernel, [input], out, dim)
    return out


class _Softmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, input: torch.Tensor, dim: int, dtype: torch.dtype) -> torch.Tensor:
        out = _forward(input, dim, dtype)
        ctx.save_for_backward(out)
        ctx.dim = dim
        ctx.input_dtype = input.dtype
        return out

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> Any:
        (out,) = ctx.saved_tensors
        if torch.is_grad_enabled():
            return _differentiable_backward(grads[0], out, ctx.dim, ctx.input_dtype), None, None
        return softmax_backward(grads[0], out, ctx.dim, ctx.input_dtype), None, None


def _differentiable_backward(
    grad: torch.Tensor, out: torch.Tensor, dim: int, input_dtype: torch.dtype
) -> torch.Tensor:
    """The same gradient in torch's operators, for backwards that are differentiated again.

    ATen's own `_softmax_backward_data` rejects most pairs of dtypes.
    """
    wide = dtypes.accumulate(out.dtype)
    grad, out = grad.to(wide), out.to(wide)
    return (out * (grad - (grad * out).sum(dim, keepdim=True))).to(input_dtype)


def softmax(input: torch.Tensor, dim: int = -1, dtype: torch.dtype | None = None) -> torch.Tensor:
    """``exp(input) / exp(input).sum(dim)``, computed from the maximum down, in float32 or float64.

    Args:
        input: any shape and strides; a floating dtype, or any real one when ``dtype`` is given.
        dim: the dimension that sums to 1.
        dtype: dtype of the result (default: that of the input).

    Differentiable with respect to ``input``; the second derivative runs on torch's own operators.

    Raises:
        IndexError, RuntimeError: whatever torch raises for a bad dim or dtype.
    """
    out_dtype = dtype or input.dtype
    wrapped = wrap_dim(dim, input.dim())
    if wrapped is None:
        return native.call("_softmax", "dim out of range", input, dim, False)
    reason = memory.limit(input)
    if not dtypes.is_floating(out_dtype) or not dtypes.is_real(input.dtype):
        reason = f"dtype {input.dtype}"
    if reason is not None:
        if dtype is not None:
            input = input.to(dtype)
        return native.call("_softmax", reason, input, dim, False)
    ledger.record("_softmax", "gems")
    if torch.is_grad_enabled() and input.requires_grad:
        return _Softmax.apply(input, wrapped, out_dtype)
    return _forward(input, wrapped, out_dtype)


def softmax_out(
    input: torch.Tensor, dim: int, half_to_float: bool, *, out: torch.Tensor
) -> torch.Tensor:
    """ATen's ``_softmax.out``: writes softmax into ``out``, resized where its shape differs.

    Raises:
        RuntimeError: ``out`` has another dtype than the result (torch's own error).
    """
    expected = torch.float32 if half_to_float else input.dtype
    if out.dtype != expected or out.device != input.device:
        return native.call(
            "_softmax.out", "out of another kind", input, dim, half_to_float, out=out
        )
    result = softmax(input, dim, expected)
    if out.shape != result.shape:
        out.resize_(result.shape)
    return out.copy_(result)


def softmax_backward(
    grad_output: torch.Tensor, output: torch.Tensor, dim: int, input_dtype: torch.dtype
) -> torch.Tensor:
    """Gradient of softmax: ``output * (grad - (grad * output).sum(dim))``.

    Args:
        grad_output: gradient of the result, same shape as ``output``.
        output: the result of the forward.
        dim: dimension of the forward.
        input_dtype: dtype of the forward's input and so of the gradient.

    Raises:
        IndexError, RuntimeError: whatever torch raises for arguments that do not fit together.
    """
    wrapped = wrap_dim(dim, output.dim())
    reason = None
    if wrapped is None:
        reason = "dim out of range"
    elif grad_output.shape != output.shape or grad_output.dtype != output.dtype:
        reason = "grad and output differ"
    elif not dtypes.is_floating(output.dtype) or not dtypes.is_floating(input_dtype):
        reason = f"dtype {output.dtype}"
    else:
        reason = memory.limit(output, grad_output)
    if wrapped is None or reason is not None:
        return native.call(
            "_softmax_backward_data", str(reason), grad_output, output, dim, input_dtype
        )
    ledger.record("_softmax_backward_data", "gems")
    grad_input = torch.empty(output.shape, dtype=input_dtype, device=output.device)
    if grad_input.numel():
        _launch(softmax_backward_kernel, [grad_output, output], grad_input, wrapped)
    return grad_input
