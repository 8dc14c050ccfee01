# SPDX-License-Identifier: Apache-2.0
"""Attention over packed sequences of different lengths, keys packed or in a paged cache."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
import triton

from flag_gems.fused.flash_attention_kernel import flash_attention_kernel
from flag_gems.runtime import device, ledger
from flag_gems.runtime.tiling import next_power_of_2

_DTYPES = (torch.float16, torch.bfloat16, torch.float32)
_WIDEST_HEAD = 256


@dataclass(frozen=True)
class Tile:
    """One program's share: ``rows`` of queries, ``keys`` at a time."""

    rows: int
    keys: int
    num_warps: int
    num_stages: int


def _tile(head_size: int, rows: int, dtype: torch.dtype) -> Tile:
    """The tile for heads of this size and so many rows of one sequence."""
    few = max(next_power_of_2(rows), 16)
    if device.name == "cpu":
        return Tile(min(few, 64), 64, 4, 1)
    if dtype is torch.float32:
        return Tile(min(few, 64), 32, 4, 2 if head_size <= 64 else 1)
    # The best of some twenty on an H200. Small tiles win: several programs share a multiprocessor,
    # and one computes its softmax while another multiplies.
    if few == 16:
        return Tile(16, 64, 2, 4 if head_size <= 128 else 2)
    if head_size <= 64:
        return Tile(min(few, 64), 64, 4, 3)
    if head_size <= 128:
        return Tile(min(few, 64), 32, 4, 3)
    return Tile(128, 64, 8, 2) if few > 64 else Tile(min(few, 64), 32, 4, 2)


def _window(causal: bool, window_size: Sequence[int] | None) -> tuple[int, int]:
    left, right = (-1, -1) if window_size is None else window_size
    return int(left), 0 if causal else int(right)


def _refusal(**unsupported: Any) -> None:
    given = [name for name, value in unsupported.items() if value]
    if given:
        raise NotImplementedError(f"flash_attn_varlen_func: {', '.join(given)} is not supported")


def _check(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    cu_seqlens_q: torch.Tensor,
    cu_seqlens_k: torch.Tensor | None,
    seqused_k: torch.Tensor | None,
    block_table: torch.Tensor | None,
) -> None:
    kv_rank = 3 if block_table is None else 4
    if q.dim() != 3 or k.dim() != kv_rank or v.shape != k.shape:
        raise ValueError(
            f"flash_attn_varlen_func: q must be [total, heads, size], k and v the same with "
            f"{kv_rank} dimensions; they are {tuple(q.shape)}, {tuple(k.shape)}, {tuple(v.shape)}"
        )
    if q.dtype not in _DTYPES or k.dtype != q.dtype or v.dtype != q.dtype:
        raise TypeError(
            f"flash_attn_varlen_func: q, k and v must share one dtype of float16, bfloat16, "
            f"float32, not {q.dtype}, {k.dtype}, {v.dtype}"
        )
    if k.shape[-1] != q.shape[2] or not 0 < q.shape[2] <= _WIDEST_HEAD:
        raise ValueError(
            f"flash_attn_varlen_func: heads of {q.shape[2]} (q) and {k.shape[-1]} (k); they must "
            f"be of one size from 1 to {_WIDEST_HEAD}"
        )
    if not k.shape[-2] or q.shape[1] % k.shape[-2]:
        raise ValueError(
            f"flash_attn_varlen_func: {q.shape[1]} query heads are no multiple of "
            f"{k.shape[-2]} key heads"
        )
    batches = cu_seqlens_q.numel() - 1
    lengths = (("cu_seqlens_q", cu_seqlens_q, batches + 1), ("cu_seqlens_k", cu_seqlens_k,
               batches + 1), ("seqused_k", seqused_k, batches))  # fmt: skip
    for name, tensor, size in lengths:
        if tensor is not None and (
            tensor.dtype != torch.int32 or tensor.shape != (size,) or not tensor.is_contiguous()
        ):
            raise ValueError(
                f"flash_attn_varlen_func: {name} must be contiguous int32 [{size}], not "
                f"{tensor.dtype} {tuple(tensor.shape)}"
            )
    if block_table is None and cu_seqlens_k is None:
        raise ValueError("flash_attn_varlen_func: packed keys need cu_seqlens_k")
    if block_table is not None and (
        seqused_k is None
        or block_table.dtype != torch.int32
        or block_table.dim() != 2
        or block_table.shape[0] != batches
        or block_table.stride(1) != 1
    ):
        raise ValueError(
            f"flash_attn_varlen_func: paged keys need seqused_k and an int32 block_table of "
            f"[{batches}, blocks] with contiguous rows"
        )
    tensors = (k, v, cu_seqlens_q, cu_seqlens_k, seqused_k, block_table)
    if q.device.type != device.name or any(t is not None and t.device != q.device for t in tensors):
        raise ValueError(f"flash_attn_varlen_func: all tensors must be on one {device.name} device")


def _rows_contiguous(tensor: torch.Tensor) -> torch.Tensor:
    return tensor if tensor.stride(-1) == 1 or tensor.shape[-1] == 1 else tensor.contiguous()


def _launch(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    out: torch.Tensor,
    lse: torch.Tensor | None,
    cu_seqlens_q: torch.Tensor,
    max_seqlen_q: int,
    cu_seqlens_k: torch.Tensor | None,
    seqused_k: torch.Tensor | None,
    block_table: torch.Tensor | None,
    slopes: torch.Tensor | None,
    scale: float,
    window: tuple[int, int],
    softcap: float,
    tile: Tile | None = None,
) -> None:
    heads, size = q.shape[1:]
    kv_heads = k.shape[-2]
    group = heads // kv_heads
    paged = block_table is not None
    # Few positions, as in decoding: the heads of a group fill the tile and share its keys.
    pack = group if max_seqlen_q * group <= 64 else 1
    rows = max_seqlen_q * pack
    tile = tile or _tile(size, rows, q.dtype)
    tiles = triton.cdiv(rows, tile.rows)
    batches = cu_seqlens_q.numel() - 1
    left, right = window
    flash_attention_kernel[(tiles * batches * (heads // pack),)](
        q,
        k,
        v,
        out,
        lse,
        cu_seqlens_q,
        cu_seqlens_k,
        seqused_k,
        block_table if paged else cu_seqlens_q,
        slopes,
        tiles,
        batches,
        kv_heads,
        left,
        right,
        scale / softcap if softcap else scale * math.log2(math.e),
        softcap,
        k.shape[1] if paged else 1,
        q.stride(0),
        q.stride(1),
        k.stride(0) if paged else 0,
        k.stride(-3),
        k.stride(-2),
        v.stride(0) if paged else 0,
        v.stride(-3),
        v.stride(-2),
        out.stride(0),
        out.stride(1),
        lse.stride(0) if lse is not None else 0,
        block_table.stride(0) if block_table is not None else 0,
        slopes.stride(0) if slopes is not None and slopes.dim() == 2 else 0,
        D=size,
        BLOCK_D=max(next_power_of_2(size), 16),
        BLOCK_M=tile.rows,
        BLOCK_N=tile.keys,
        GROUP=group,
        PACK=pack,
        PAGED=paged,
        HAS_USED=seqused_k is not None,
        HAS_LEFT=left >= 0,
        HAS_RIGHT=right >= 0,
        HAS_ALIBI=slopes is not None,
        HAS_SOFTCAP=softcap != 0.0,
        KEEP_LSE=lse is not None,
        PRECISION="ieee" if q.dtype is torch.float32 else "tf32",
        num_warps=tile.num_warps,
        num_stages=tile.num_stages,
    )


@torch.library.custom_op(
    "flag_gems_python::flash_attn_varlen",
    mutates_args=("out", "lse"),
    schema="(Tensor q, Tensor k, Tensor v, Tensor(a!) out, Tensor(b!)? lse, Tensor cu_seqlens_q,"
    " int max_seqlen_q, Tensor? cu_seqlens_k, Tensor? seqused_k, Tensor? block_table,"
    " Tensor? slopes, float scale, int left, int right, float softcap) -> ()",
)
def _flash_attn_varlen(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    out: torch.Tensor,
    lse: torch.Tensor | None,
    cu_seqlens_q: torch.Tensor,
    max_seqlen_q: int,
    cu_seqlens_k: torch.Tensor | None,
    seqused_k: torch.Tensor | None,
    block_table: torch.Tensor | None,
    slopes: torch.Tensor | None,
    scale: float,
    left: int,
    right: int,
    softcap: float,
) -> None:
    # One opaque step of a compiled graph; a direct call does without the dispatcher.
    ledger.record("flash_attn_varlen_func", "gems")
    if q.numel() and max_seqlen_q:
        _launch(
            q, k, v, out, lse, cu_seqlens_q, max_seqlen_q, cu_seqlens_k, seqused_k, block_table,
            slopes, scale, (left, right), softcap,
        )  # fmt: skip


_direct = _flash_attn_varlen._init_fn


def flash_attn_varlen_func(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    max_seqlen_q: int,
    cu_seqlens_q: torch.Tensor,
    max_seqlen_k: int,
    cu_seqlens_k: torch.Tensor | None = None,
    seqused_k: torch.Tensor | None = None,
    q_v: torch.Tensor | None = None,
    dropout_p: float = 0.0,
    softmax_scale: float | None = None,
    causal: bool = False,
    window_size: Sequence[int] | None = None,
    softcap: float = 0.0,
    alibi_slopes: torch.Tensor | None = None,
    deterministic: bool = False,
    return_attn_probs: bool = False,
    block_table: torch.Tensor | None = None,
    return_softmax_lse: bool = False,
    out: torch.Tensor | None = None,
    scheduler_metadata: torch.Tensor | None = None,
    q_descale: torch.Tensor | None = None,
    k_descale: torch.Tensor | None = None,
    v_descale: torch.Tensor | None = None,
    s_aux: torch.Tensor | None = None,
    num_splits: int = 0,
    cp_world_size: int = 1,
    cp_rank: int = 0,
    cp_tot_seqused_k: torch.Tensor | None = None,
    fa_version: int = 2,
) -> Any:
    """``softmax(q k^T * softmax_scale + bias) v`` within each of a batch of packed sequences.

    Args:
        q: [total_q, heads, size], float16, bfloat16 or float32; size at most 256.
        k, v: [total_k, kv_heads, size], or with ``block_table`` the pages of a cache,
            [blocks, block_size, kv_heads, size]. heads is a multiple of kv_heads.
        max_seqlen_q: no sequence has more queries. ``max_seqlen_k`` is not needed.
        cu_seqlens_q, cu_seqlens_k: int32 [batch + 1], where each sequence begins and the last ends.
        seqused_k: int32 [batch], keys of each sequence that count; needed with ``block_table``.
        softmax_scale: by default ``size ** -0.5``.
        causal: query i sees keys up to i + keys - queries, the diagonal that ends at the corner.
        window_size: (left, right), keys seen on either side of that diagonal; -1 for all.
        softcap: logits become ``softcap * tanh(logits / softcap)`` where it is not 0.
        alibi_slopes: [heads] or [batch, heads]; logits lose slope times the distance from the
            diagonal.
        block_table: int32 [batch, blocks of the longest sequence].
        out: where to write, of q's shape and dtype.
        deterministic, scheduler_metadata, num_splits, fa_version, max_seqlen_k, cp_rank,
            cp_tot_seqused_k: hints for other implementations; the result does not depend on them.

    Returns:
        A tensor like ``q``, or with ``return_softmax_lse`` also the logarithm of each row's sum of
        exponentials, float32 [heads, total_q]. A row that sees no key gives 0 and -inf.

    Raises:
        ValueError, TypeError: shapes, dtypes or devices do not fit.
        NotImplementedError: dropout, q_v, descaling, s_aux, context parallelism, attention
            probabilities, or an argument that requires a gradient.
    """
    del max_seqlen_k, deterministic, scheduler_metadata, num_splits, cp_rank, cp_tot_seqused_k
    del fa_version
    _refusal(
        dropout_p=dropout_p,
        q_v=q_v is not None,
        return_attn_probs=return_attn_probs,
        q_descale=q_descale is not None,
        k_descale=k_descale is not None,
        v_descale=v_descale is not None,
        s_aux=s_aux is not None,
        cp_world_size=cp_world_size > 1,
        gradient=torch.is_grad_enabled()
        and (q.requires_grad or k.requires_grad or v.requires_grad),
    )
    _check(q, k, v, cu_seqlens_q, cu_seqlens_k, seqused_k, block_table)
    q, k, v = _rows_contiguous(q), _rows_contiguous(k), _rows_contiguous(v)
    heads = q.shape[1]
    if alibi_slopes is not None and (
        alibi_slopes.shape not in ((heads,), (cu_seqlens_q.numel() - 1, heads))
        or alibi_slopes.stride(-1) != 1
    ):
        raise ValueError(
            f"flash_attn_varlen_func: alibi_slopes must be [{heads}] or [batch, {heads}], not "
            f"{tuple(alibi_slopes.shape)}"
        )
    if out is None:
        out = torch.empty_like(q)
    elif out.shape != q.shape or out.dtype != q.dtype or out.stride(-1) != 1:
        raise ValueError("flash_attn_varlen_func: out must have q's shape and dtype")
    lse = None
    if return_softmax_lse:
        lse = torch.empty((heads, q.shape[0]), dtype=torch.float32, device=q.device)
    scale = q.shape[2] ** -0.5 if softmax_scale is None else float(softmax_scale)
    left, right = _window(causal, window_size)
    call = _flash_attn_varlen if torch.compiler.is_compiling() else _direct
    call(
        q, k, v, out, lse, cu_seqlens_q, int(max_seqlen_q), cu_seqlens_k, seqused_k, block_table,
        alibi_slopes, scale, left, right, float(softcap),
    )  # fmt: skip
    return (out, lse) if return_softmax_lse else out


def flash_attn_varlen_opt_func(*args: Any, lse: torch.Tensor | None = None, **kwargs: Any) -> Any:
    """:func:`flash_attn_varlen_func` under the name that some of its users call.

    ``lse``: where to write the logarithms, float32 [heads, total_q].
    """
    result = flash_attn_varlen_func(*args, **kwargs)
    if lse is not None and isinstance(result, tuple):
        lse.copy_(result[1])
        return result[0], lse
    return result
