# SPDX-License-Identifier: Apache-2.0
"""Launches the product behind mm, addmm, bmm and baddbmm: ``beta * bias + alpha * a @ b``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import triton
from triton.tools.tensor_descriptor import TensorDescriptor

from flag_gems.ops.matmul_kernels import join_parts, product, product_by_descriptor
from flag_gems.ops.matmul_plan import Problem, Tiling, letter, tiling
from flag_gems.runtime import device, dtypes, interpreted, torch_device_fn

_JOIN_ROWS, _JOIN_COLUMNS = 4, 256
_MOST_PLANS = 4096
_FAR = 1 << 30
"""Offsets from here on are computed in 64 bits; half of what 32 bits hold, for tiles that stick
out."""


@dataclass(frozen=True)
class _Plan:
    """What is the same for every call with tensors of one geometry."""

    tiling: Tiling
    grid: tuple[int, ...]
    chunk: int
    numbers: tuple[int, ...]
    """Batch, row and column strides of a, b, bias and out."""
    flags: dict[str, Any]
    options: dict[str, int]


_plans: dict[Any, _Plan] = {}


def launch(
    a: torch.Tensor,
    b: torch.Tensor,
    out: torch.Tensor,
    bias: torch.Tensor | None = None,
    alpha: float = 1.0,
    beta: float = 1.0,
    chosen: Tiling | None = None,
) -> None:
    """``out = beta * bias + alpha * (a @ b)``; without a bias, ``alpha * (a @ b)``.

    Args:
        a: [M, K] or [batches, M, K], floating, any strides.
        b: [K, N] or [batches, K, N], dtype of ``a``.
        out: [M, N] or [batches, M, N], dtype of ``a``, not empty. May be ``bias``, must not overlap
            ``a`` or ``b``.
        bias: broadcastable to the shape of ``out``, dtype of ``a``.
        chosen: how to compute it, when not as looked up.

    Products are summed in float32, for float64 in float64.
    """
    plan = _plan(a, b, out, bias, alpha, beta) if chosen is None else None
    if plan is None:
        plan = _make_plan(a, b, out, bias, alpha, beta, chosen)
    if a.dtype is torch.float64:
        alpha, beta = dtypes.float64_bits(alpha), dtypes.float64_bits(beta)
    if plan.tiling.descriptor:
        _by_descriptor(plan, a, b, out, bias, alpha, beta)
    elif plan.tiling.splits > 1:
        _in_parts(plan, a, b, out, bias, alpha, beta)
    else:
        product[plan.grid](
            a,
            b,
            out if bias is None else bias,
            out,
            *plan.numbers[:3],
            plan.chunk,
            *plan.numbers[3:],
            alpha,
            beta,
            **plan.flags,
            **plan.options,
        )


def _plan(
    a: torch.Tensor,
    b: torch.Tensor,
    out: torch.Tensor,
    bias: torch.Tensor | None,
    alpha: float,
    beta: float,
) -> _Plan:
    key = (
        a.dtype,
        a.shape,
        b.shape,
        a.stride(),
        b.stride(),
        out.stride(),
        None if bias is None else (bias.shape, bias.stride()),
        alpha == 1 and beta == 1,
        # A descriptor needs aligned addresses.
        (a.data_ptr() | b.data_ptr() | out.data_ptr()) & 15 == 0,
        _precision(a.dtype),
    )
    plan = _plans.get(key)
    if plan is None:
        if len(_plans) >= _MOST_PLANS:
            _plans.clear()
        plan = _plans[key] = _make_plan(a, b, out, bias, alpha, beta, None)
    return plan


def problem_of(a: torch.Tensor, b: torch.Tensor) -> Problem:
    """The product of two factors as the tuned files know it."""
    *batch, m, k = a.shape
    return Problem(batch[0] if batch else 1, m, b.shape[-1], k, a.dtype, f"{letter(a)}{letter(b)}")


def _make_plan(
    a: torch.Tensor,
    b: torch.Tensor,
    out: torch.Tensor,
    bias: torch.Tensor | None,
    alpha: float,
    beta: float,
    chosen: Tiling | None,
) -> _Plan:
    problem = problem_of(a, b)
    tile = tiling(problem) if chosen is None else chosen
    if tile.descriptor and chosen is None and not _fit_for_descriptors(problem, tile, a, b, out):
        tile = _without_descriptors(tile)
    m, n, k = problem.m, problem.n, problem.k
    full = [_strides(tensor) for tensor in (a, b)]
    bias_strides = (0, 0, 0) if bias is None else _strides(bias.expand(out.shape))
    out_strides = _strides(out)
    tiles = triton.cdiv(m, tile.m) * triton.cdiv(n, tile.n) * problem.batches
    blocks = triton.cdiv(triton.cdiv(k, tile.k), tile.splits)
    chunk = k if tile.splits == 1 else blocks * tile.k
    splits = triton.cdiv(k, chunk)
    flags: dict[str, Any] = {
        "HAS_BIAS": bias is not None,
        "SCALED": alpha != 1 or beta != 1,
        "PRECISION": _precision(a.dtype) or tile.precision,
        "BLOCK_M": tile.m,
        "BLOCK_N": tile.n,
        "BLOCK_K": tile.k,
        "GROUP": tile.group,
    }
    grid: tuple[int, ...]
    if tile.descriptor:
        grid = (min(tiles, _multiprocessors(a.device)),)
        flags |= {
            "A_BY_ROWS": _strides(a)[2] == 1,
            "B_BY_ROWS": _strides(b)[2] == 1,
            "HALVES": tile.halves,
            "FLATTEN": tile.flatten,
            "SPECIALIZE": tile.specialize,
        }
    else:
        grid = (tiles, splits) if splits > 1 else (tiles,)
        flags |= {
            "WIDE": any(_reach(tensor) >= _FAR for tensor in (a, b, out, bias)),
            "EVEN_M": m % tile.m == 0,
            "EVEN_N": n % tile.n == 0,
            "EVEN_K": k % tile.k == 0 and chunk * splits == k,
            "SPLIT": splits > 1,
            # The interpreter multiplies bfloat16 as if its bits were integers.
            "WIDEN": interpreted,
            "ACCUMULATE": dtypes.compute(a.dtype),
        }
    numbers = (m, n, k, *full[0], *full[1], *bias_strides, *out_strides)
    options = {"num_warps": tile.num_warps, "num_stages": tile.num_stages}
    if splits == 1 and tile.splits > 1:
        tile = Tiling(tile.m, tile.n, tile.k, tile.num_warps, tile.num_stages, tile.group)
    return _Plan(tile, grid, chunk, numbers, flags, options)


def _strides(tensor: torch.Tensor) -> tuple[int, int, int]:
    batch, row, column = (0, *tensor.stride())[-3:] if tensor.dim() == 2 else tensor.stride()
    return batch, row, column


def _reach(tensor: torch.Tensor | None) -> int:
    """The largest offset of an element, in elements."""
    if tensor is None:
        return 0
    return sum((n - 1) * step for n, step in zip(tensor.shape, tensor.stride(), strict=True))


def _fit_for_descriptors(
    problem: Problem, tile: Tiling, a: torch.Tensor, b: torch.Tensor, out: torch.Tensor
) -> bool:
    """Whether descriptors can hold these tensors: aligned, and batches packed below each other."""
    if not problem.takes_descriptors(tile) or letter(out) != "n":
        return False
    if problem.batches == 1:
        return True
    return all(_packed(tensor) for tensor in (a, b, out))


def _packed(tensor: torch.Tensor) -> bool:
    batch, row, column = _strides(tensor)
    rows, width = (tensor.shape[-2], row) if column == 1 else (tensor.shape[-1], column)
    return batch == rows * width


def _without_descriptors(tile: Tiling) -> Tiling:
    return Tiling(tile.m, tile.n, tile.k, tile.num_warps, min(tile.num_stages, 3), tile.group)


def _multiprocessors(place: torch.device) -> int:
    if device.name == "cpu":
        return 1
    return int(torch_device_fn.get_device_properties(place).multi_processor_count)


def _precision(dtype: torch.dtype) -> str:
    """TensorFloat-32 for float32 where torch is allowed to use it, else the tiling's own."""
    if dtype is torch.float32 and device.name == "cuda" and torch.backends.cuda.matmul.allow_tf32:
        return "tf32"
    return "" if dtype is torch.float32 else "ieee"


def _described(tensor: torch.Tensor, rows: int, columns: int) -> TensorDescriptor:
    """A matrix, or the matrices of a batch below each other, whose tiles are rows by columns.

    A matrix that is contiguous along its columns is described transposed, and so are its tiles.
    """
    batch, row, column = _strides(tensor)
    del batch
    *count, height, width = tensor.shape
    if column != 1:
        height, width, row, rows, columns = width, height, column, columns, rows
    height *= count[0] if count else 1
    return TensorDescriptor(tensor, [height, width], [row, 1], [rows, columns])


def _by_descriptor(
    plan: _Plan,
    a: torch.Tensor,
    b: torch.Tensor,
    out: torch.Tensor,
    bias: torch.Tensor | None,
    alpha: float,
    beta: float,
) -> None:
    tile = plan.tiling
    batches = out.shape[0] if out.dim() == 3 else 1
    product_by_descriptor[plan.grid](
        _described(a, tile.m, tile.k),
        _described(b, tile.k, tile.n),
        _described(out, tile.m, tile.n // 2 if tile.halves else tile.n),
        out if bias is None else bias,
        *plan.numbers[:3],
        batches,
        *plan.numbers[9:12],
        alpha,
        beta,
        **plan.flags,
        **plan.options,
    )


def _in_parts(
    plan: _Plan,
    a: torch.Tensor,
    b: torch.Tensor,
    out: torch.Tensor,
    bias: torch.Tensor | None,
    alpha: float,
    beta: float,
) -> None:
    splits = plan.grid[1]
    batches, (m, n) = (out.shape[0] if out.dim() == 3 else 1), out.shape[-2:]
    accumulate = dtypes.accumulate(a.dtype)
    parts = torch.empty((splits, batches, m, n), dtype=accumulate, device=a.device)
    added = out if bias is None else bias
    product[plan.grid](
        a,
        b,
        added,
        parts,
        *plan.numbers[:3],
        plan.chunk,
        *plan.numbers[3:],
        alpha,
        beta,
        **plan.flags,
        **plan.options,
    )
    rows = min(_JOIN_ROWS, triton.next_power_of_2(m))
    join_parts[(triton.cdiv(m, rows) * triton.cdiv(n, _JOIN_COLUMNS) * batches,)](
        parts,
        added,
        out,
        splits,
        batches,
        m,
        n,
        *plan.numbers[9:],
        alpha,
        beta,
        HAS_BIAS=plan.flags["HAS_BIAS"],
        SCALED=plan.flags["SCALED"],
        ACCUMULATE=plan.flags["ACCUMULATE"],
        BLOCK_M=rows,
        BLOCK_N=_JOIN_COLUMNS,
        num_warps=4,
    )
