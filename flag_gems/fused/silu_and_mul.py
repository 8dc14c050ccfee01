# SPDX-License-Identifier: Apache-2.0
"""SwiGLU's gate, ``silu(x) * y`` (Shazeer, 2020), with its backward."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from flag_gems.runtime import device, dtypes, ledger, memory
from flag_gems.runtime.launcher import kernel


@kernel
def silu_and_mul_kernel(
    x,
    y,
    out,
    rows,
    columns,
    tiles,
    x_row,
    y_row,
    out_row,
    BLOCK: tl.constexpr,
    COMPUTE: tl.constexpr,
):
    row = (tl.program_id(0) // tiles).to(tl.int64)
    column = tl.program_id(0) % tiles * BLOCK + tl.arange(0, BLOCK)
    mask = column < columns
    a = tl.load(x + row * x_row + column, mask=mask, other=0.0).to(COMPUTE)
    b = tl.load(y + row * y_row + column, mask=mask, other=0.0).to(COMPUTE)
    tl.store(out + row * out_row + column, a / (1.0 + tl.exp(-a)) * b, mask=mask)


@kernel
def silu_and_mul_backward_kernel(
    grad,
    x,
    y,
    grad_x,
    grad_y,
    rows,
    columns,
    tiles,
    grad_row,
    x_row,
    y_row,
    BLOCK: tl.constexpr,
    COMPUTE: tl.constexpr,
):
    row = (tl.program_id(0) // tiles).to(tl.int64)
    column = tl.program_id(0) % tiles * BLOCK + tl.arange(0, BLOCK)
    mask = column < columns
    g = tl.load(grad + row * grad_row + column, mask=mask, other=0.0).to(COMPUTE)
    a = tl.load(x + row * x_row + column, mask=mask, other=0.0).to(COMPUTE)
    b = tl.load(y + row * y_row + column, mask=mask, other=0.0).to(COMPUTE)
    gate = 1.0 / (1.0 + tl.exp(-a))
    place = row * columns + column
    tl.store(grad_x + place, g * b * gate * (1.0 + a * (1.0 - gate)), mask=mask)
    tl.store(grad_y + place, g * a * gate, mask=mask)


def _block(columns: int) -> tuple[int, int]:
    """(elements of a program, warps)."""
    most = 1 << 14 if device.name == "cpu" else 1 << 11
    return min(max(triton.next_power_of_2(columns), 16), most), 4


def _matrix(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor as rows of neighbours: all of it one row where it lies in one stretch, the halves
    of a concatenation as they are, anything else copied."""
    if tensor.is_contiguous():
        return tensor.view(1, -1)
    try:
        rows = tensor.view(-1, tensor.shape[-1])
    except RuntimeError:
        return tensor.contiguous().view(1, -1)
    return rows if rows.stride(1) == 1 else tensor.contiguous().view(1, -1)


def _matrices(*tensors: torch.Tensor) -> list[torch.Tensor]:
    rows = [_matrix(tensor) for tensor in tensors]
    if len({tuple(one.shape) for one in rows}) == 1:
        return rows
    width = tensors[0].shape[-1]
    return [one.view(-1, width) for one in rows]


def _launch(x: torch.Tensor, y: torch.Tensor, out: torch.Tensor) -> None:
    if not x.numel():
        return
    x, y, matrix = _matrices(x, y, out)
    rows, columns = x.shape
    block, num_warps = _block(columns)
    tiles = triton.cdiv(columns, block)
    silu_and_mul_kernel[(rows * tiles,)](
        x,
        y,
        matrix,
        rows,
        columns,
        tiles,
        x.stride(0),
        y.stride(0),
        matrix.stride(0),
        BLOCK=block,
        COMPUTE=dtypes.compute(torch.promote_types(x.dtype, y.dtype)),
        num_warps=num_warps,
    )


def _gradients(
    grad: torch.Tensor, x: torch.Tensor, y: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    grad_x = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    grad_y = torch.empty(y.shape, dtype=y.dtype, device=y.device)
    if not x.numel():
        return grad_x, grad_y
    grad, x, y = _matrices(grad, x, y)
    rows, columns = x.shape
    block, num_warps = _block(columns)
    tiles = triton.cdiv(columns, block)
    silu_and_mul_backward_kernel[(rows * tiles,)](
        grad,
        x,
        y,
        grad_x,
        grad_y,
        rows,
        columns,
        tiles,
        grad.stride(0),
        x.stride(0),
        y.stride(0),
        BLOCK=block,
        COMPUTE=dtypes.compute(torch.promote_types(x.dtype, y.dtype)),
        num_warps=num_warps,
    )
    return grad_x, grad_y


def _differentiable_backward(
    grad: torch.Tensor, x: torch.Tensor, y: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """The gradients in torch's operators, for backwards that are differentiated again."""
    gate = torch.sigmoid(x)
    return grad * y * gate * (1 + x * (1 - gate)), grad * x * gate


class _SiluAndMul(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x, y)
        return _forward(x, y)

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> Any:
        if torch.is_grad_enabled():
            return _differentiable_backward(grads[0], *ctx.saved_tensors)
        return _gradients(grads[0].resolve_neg(), *ctx.saved_tensors)


def _forward(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    dtype = torch.promote_types(x.dtype, y.dtype)
    out = torch.empty(x.shape, dtype=dtype, device=x.device)
    _launch(x, y, out)
    return out


# As one step of a compiled graph; a direct call does without torch's dispatcher.


@torch.library.custom_op(
    "flag_gems_python::silu_and_mul", mutates_args=(), schema="(Tensor x, Tensor y) -> Tensor"
)
def _silu_and_mul(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    ledger.record("silu_and_mul", "gems")
    return _forward(x, y)


@_silu_and_mul.register_fake
def _(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x.new_empty(x.shape, dtype=torch.promote_types(x.dtype, y.dtype))


@torch.library.custom_op(
    "flag_gems_python::silu_and_mul_backward",
    mutates_args=(),
    schema="(Tensor grad, Tensor x, Tensor y) -> (Tensor, Tensor)",
)
def _silu_and_mul_backward(
    grad: torch.Tensor, x: torch.Tensor, y: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    return _gradients(grad, x, y)


@_silu_and_mul_backward.register_fake
def _(grad: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return x.new_empty(x.shape), y.new_empty(y.shape)


def _keep(ctx: Any, inputs: tuple[torch.Tensor, ...], output: torch.Tensor) -> None:
    ctx.save_for_backward(*inputs)


def _compiled_gradients(ctx: Any, grad: torch.Tensor) -> Any:
    return _silu_and_mul_backward(grad, *ctx.saved_tensors)


_silu_and_mul.register_autograd(_compiled_gradients, setup_context=_keep)


def _check(x: torch.Tensor, y: torch.Tensor) -> None:
    if x.shape != y.shape:
        raise ValueError(f"silu_and_mul: x {tuple(x.shape)} and y {tuple(y.shape)} differ")
    for name, tensor in (("x", x), ("y", y)):
        if not dtypes.is_floating(tensor.dtype):
            raise TypeError(f"silu_and_mul: {name} is {tensor.dtype}, not a floating dtype")
    reason = memory.limit(x, y)
    if reason is not None:
        raise ValueError(f"silu_and_mul: kernels can't read these tensors: {reason}")


def silu_and_mul(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """``x * sigmoid(x) * y``, computed in float32 (float64 for float64) and rounded once.

    Args:
        x, y: one shape, floating, any strides; the halves of ``cat(x, y).chunk(2, -1)`` are read
            where they lie.

    Returns:
        A contiguous tensor of the promoted dtype. Differentiable with respect to both; the second
        derivative runs on torch's own operators.

    Raises:
        ValueError: shapes or devices do not fit.
        TypeError: a dtype is not floating.
    """
    _check(x, y)
    if torch.compiler.is_compiling():
        result: torch.Tensor = _silu_and_mul(x, y)
        return result
    ledger.record("silu_and_mul", "gems")
    if torch.is_grad_enabled() and (x.requires_grad or y.requires_grad):
        return _SiluAndMul.apply(x, y)
    return _forward(x, y)


def silu_and_mul_out(x: torch.Tensor, y: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
    """:func:`silu_and_mul` into ``out``, which has the shape of ``x``; no gradient.

    Raises:
        ValueError, TypeError: as :func:`silu_and_mul`.
    """
    _check(x, y)
    if out.shape != x.shape or out.device != x.device or not dtypes.is_floating(out.dtype):
        raise ValueError(
            f"silu_and_mul_out: out must be floating {tuple(x.shape)} on {x.device}, not "
            f"{out.dtype} {tuple(out.shape)} on {out.device}"
        )
    ledger.record("silu_and_mul_out", "gems")
    if out.is_contiguous():
        _launch(x, y, out)
        return out
    return out.copy_(_forward(x, y))
