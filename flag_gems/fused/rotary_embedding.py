# SPDX-License-Identifier: Apache-2.0
"""Rotary position embedding (Su et al., 2021) of queries and keys in one launch.

Pairs are either the halves of a head (GPT-NeoX, Llama) or neighbours (GPT-J).
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from flag_gems.runtime import dtypes, ledger, memory
from flag_gems.runtime.launcher import kernel
from flag_gems.runtime.tiling import next_power_of_2


@triton.jit
def _rotate(
    x,
    out,
    cos,
    sin,
    heads,
    x_head,
    out_head,
    HALF: tl.constexpr,
    SIZE: tl.constexpr,
    BLOCK_H: tl.constexpr,
    BLOCK_HALF: tl.constexpr,
    BLOCK_REST: tl.constexpr,
    INTERLEAVED: tl.constexpr,
    COPY: tl.constexpr,
):
    # The heads of one token; cos and sin are [1, BLOCK_HALF].
    for start in range(0, heads, BLOCK_H):
        head = start + tl.arange(0, BLOCK_H)
        x_rows = x + head[:, None] * x_head
        out_rows = out + head[:, None] * out_head
        if INTERLEAVED:
            lane = tl.arange(0, 2 * BLOCK_HALF)[None, :]
            mask = (head < heads)[:, None] & (lane < 2 * HALF)
            whole = tl.load(x_rows + lane, mask=mask, other=0.0).to(cos.dtype)
            first, second = tl.split(tl.reshape(whole, (BLOCK_H, BLOCK_HALF, 2)))
            turned = tl.join(first * cos - second * sin, second * cos + first * sin)
            tl.store(out_rows + lane, tl.reshape(turned, (BLOCK_H, 2 * BLOCK_HALF)), mask=mask)
        else:
            lane = tl.arange(0, BLOCK_HALF)[None, :]
            mask = (head < heads)[:, None] & (lane < HALF)
            first = tl.load(x_rows + lane, mask=mask, other=0.0).to(cos.dtype)
            second = tl.load(x_rows + HALF + lane, mask=mask, other=0.0).to(cos.dtype)
            tl.store(out_rows + lane, first * cos - second * sin, mask=mask)
            tl.store(out_rows + HALF + lane, second * cos + first * sin, mask=mask)
        if COPY and SIZE > 2 * HALF:
            lane = 2 * HALF + tl.arange(0, BLOCK_REST)[None, :]
            mask = (head < heads)[:, None] & (lane < SIZE)
            tl.store(out_rows + lane, tl.load(x_rows + lane, mask=mask), mask=mask)


@kernel
def rotary_embedding_kernel(
    q,
    k,
    out_q,
    out_k,
    cos,
    sin,
    positions,
    length,
    positions_known,
    q_heads,
    k_heads,
    cos_row,
    sin_row,
    q_batch,
    q_token,
    q_head,
    k_batch,
    k_token,
    k_head,
    out_q_batch,
    out_q_token,
    out_q_head,
    out_k_batch,
    out_k_token,
    out_k_head,
    HALF: tl.constexpr,
    Q_SIZE: tl.constexpr,
    K_SIZE: tl.constexpr,
    BLOCK_Q: tl.constexpr,
    BLOCK_K: tl.constexpr,
    BLOCK_HALF: tl.constexpr,
    BLOCK_REST: tl.constexpr,
    HAS_POSITIONS: tl.constexpr,
    INTERLEAVED: tl.constexpr,
    BACKWARD: tl.constexpr,
    COPY: tl.constexpr,
    COMPUTE: tl.constexpr,
):
    token = tl.program_id(0).to(tl.int64)
    batch = token // length
    place = token % length
    position = place
    if HAS_POSITIONS:
        position = tl.load(positions + token).to(tl.int64)
    lane = tl.arange(0, BLOCK_HALF)
    known = (position >= 0) & (position < positions_known)
    mask = (lane < HALF) & known
    # A position outside the table has no angle: its result is not a number.
    angle_cos = tl.load(cos + position * cos_row + lane, mask=mask, other=float("nan")).to(COMPUTE)
    angle_sin = tl.load(sin + position * sin_row + lane, mask=mask, other=float("nan")).to(COMPUTE)
    if BACKWARD:
        angle_sin = -angle_sin
    angle_cos = angle_cos[None, :]
    angle_sin = angle_sin[None, :]
    _rotate(
        q + batch * q_batch + place * q_token,
        out_q + batch * out_q_batch + place * out_q_token,
        angle_cos, angle_sin, q_heads, q_head, out_q_head,
        HALF, Q_SIZE, BLOCK_Q, BLOCK_HALF, BLOCK_REST, INTERLEAVED, COPY,
    )  # fmt: skip
    _rotate(
        k + batch * k_batch + place * k_token,
        out_k + batch * out_k_batch + place * out_k_token,
        angle_cos, angle_sin, k_heads, k_head, out_k_head,
        HALF, K_SIZE, BLOCK_K, BLOCK_HALF, BLOCK_REST, INTERLEAVED, COPY,
    )  # fmt: skip


_HEAD_ELEMENTS = 2048
"""Elements of a token's heads that a program holds at a time."""


def _launch(
    q: torch.Tensor,
    k: torch.Tensor,
    out_q: torch.Tensor,
    out_k: torch.Tensor,
    cos: torch.Tensor,
    sin: torch.Tensor,
    positions: torch.Tensor | None,
    interleaved: bool,
    backward: bool,
) -> None:
    """All of q, k and the outputs are [batch, length, heads, size] with neighbours in size."""
    batches, length = q.shape[:2]
    if not batches * length:
        return
    half = cos.shape[1]
    block_half = max(next_power_of_2(half), 1)
    most = max(_HEAD_ELEMENTS // (2 * block_half), 1)
    rest = max(q.shape[3], k.shape[3]) - 2 * half
    rotary_embedding_kernel[(batches * length,)](
        q,
        k,
        out_q,
        out_k,
        cos,
        sin,
        q if positions is None else positions,
        length,
        cos.shape[0],
        q.shape[2],
        k.shape[2],
        cos.stride(0),
        sin.stride(0),
        *q.stride()[:3],
        *k.stride()[:3],
        *out_q.stride()[:3],
        *out_k.stride()[:3],
        HALF=half,
        Q_SIZE=q.shape[3],
        K_SIZE=k.shape[3],
        BLOCK_Q=min(next_power_of_2(q.shape[2]), most),
        BLOCK_K=min(next_power_of_2(k.shape[2]), most),
        BLOCK_HALF=block_half,
        BLOCK_REST=max(next_power_of_2(rest), 1),
        HAS_POSITIONS=positions is not None,
        INTERLEAVED=interleaved,
        BACKWARD=backward,
        COPY=out_q.data_ptr() != q.data_ptr(),
        COMPUTE=dtypes.compute(torch.promote_types(q.dtype, cos.dtype)),
        num_warps=4,
    )


def _tokens(x: torch.Tensor) -> torch.Tensor:
    """[..., length, heads, size] as four dimensions with neighbours in size; copied if need be."""
    x = x if x.stride(-1) == 1 or x.shape[-1] == 1 else x.contiguous()
    return x if x.dim() == 4 else x.reshape(-1, *x.shape[-3:])


def _rotated(
    q: torch.Tensor,
    k: torch.Tensor,
    cos: torch.Tensor,
    sin: torch.Tensor,
    positions: torch.Tensor | None,
    interleaved: bool,
    backward: bool,
) -> tuple[torch.Tensor, torch.Tensor]:
    out_q = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    out_k = torch.empty(k.shape, dtype=k.dtype, device=k.device)
    shapes = _tokens(out_q), _tokens(out_k)
    _launch(_tokens(q), _tokens(k), *shapes, cos, sin, positions, interleaved, backward)
    return out_q, out_k


class _Rotary(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        q: torch.Tensor,
        k: torch.Tensor,
        cos: torch.Tensor,
        sin: torch.Tensor,
        positions: torch.Tensor | None,
        interleaved: bool,
        backward: bool,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        ctx.save_for_backward(cos, sin, positions)
        ctx.interleaved = interleaved
        ctx.backward_of = backward
        return _rotated(q, k, cos, sin, positions, interleaved, backward)

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> Any:
        cos, sin, positions = ctx.saved_tensors
        # The gradient of a rotation is the rotation back, and so is differentiable in turn.
        turned = _Rotary.apply(
            *(grad.resolve_neg() for grad in grads), cos, sin, positions, ctx.interleaved,
            not ctx.backward_of,
        )  # fmt: skip
        return *turned, None, None, None, None, None


# As one step of a compiled graph; a direct call does without torch's dispatcher.


@torch.library.custom_op(
    "flag_gems_python::rotary_embedding",
    mutates_args=(),
    schema="(Tensor q, Tensor k, Tensor cos, Tensor sin, Tensor? positions, bool interleaved,"
    " bool backward) -> (Tensor, Tensor)",
)
def _rotary(
    q: torch.Tensor,
    k: torch.Tensor,
    cos: torch.Tensor,
    sin: torch.Tensor,
    positions: torch.Tensor | None,
    interleaved: bool,
    backward: bool,
) -> tuple[torch.Tensor, torch.Tensor]:
    ledger.record("apply_rotary_pos_emb", "gems")
    return _rotated(q, k, cos, sin, positions, interleaved, backward)


@_rotary.register_fake
def _(q: torch.Tensor, k: torch.Tensor, *_others: Any) -> tuple[torch.Tensor, torch.Tensor]:
    return q.new_empty(q.shape), k.new_empty(k.shape)


def _keep(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    _, _, cos, sin, positions, ctx.interleaved, ctx.backward_of = inputs
    ctx.save_for_backward(cos, sin, positions)


def _turned_back(ctx: Any, grad_q: torch.Tensor, grad_k: torch.Tensor) -> Any:
    cos, sin, positions = ctx.saved_tensors
    turned = _rotary(grad_q, grad_k, cos, sin, positions, ctx.interleaved, not ctx.backward_of)
    return *turned, None, None, None, None, None


_rotary.register_autograd(_turned_back, setup_context=_keep)


@torch.library.custom_op(
    "flag_gems_python::rotary_embedding_inplace",
    mutates_args=("q", "k"),
    schema="(Tensor(a!) q, Tensor(b!) k, Tensor cos, Tensor sin, Tensor? positions,"
    " bool interleaved) -> ()",
)
def _rotary_inplace(
    q: torch.Tensor,
    k: torch.Tensor,
    cos: torch.Tensor,
    sin: torch.Tensor,
    positions: torch.Tensor | None,
    interleaved: bool,
) -> None:
    ledger.record("apply_rotary_pos_emb", "gems")
    whole_q, whole_k = _tokens(q), _tokens(k)
    if whole_q.data_ptr() == q.data_ptr() and whole_k.data_ptr() == k.data_ptr():
        _launch(whole_q, whole_k, whole_q, whole_k, cos, sin, positions, interleaved, False)
        return
    # Strides that the kernel can't take: it works on copies.
    out_q, out_k = _rotated(q, k, cos, sin, positions, interleaved, False)
    q.copy_(out_q)
    k.copy_(out_k)


_direct_inplace = _rotary_inplace._init_fn


def _check(
    q: torch.Tensor,
    k: torch.Tensor,
    cos: torch.Tensor,
    sin: torch.Tensor,
    position_ids: torch.Tensor | None,
) -> None:
    name = "apply_rotary_pos_emb"
    if q.dim() < 3 or k.dim() != q.dim() or q.shape[:-2] != k.shape[:-2]:
        raise ValueError(
            f"{name}: q {tuple(q.shape)} and k {tuple(k.shape)} must be [..., length, heads, size] "
            "with the same leading sizes"
        )
    if cos.dim() != 2 or sin.shape != cos.shape or 2 * cos.shape[1] > min(q.shape[-1], k.shape[-1]):
        raise ValueError(
            f"{name}: cos {tuple(cos.shape)} and sin {tuple(sin.shape)} must be [positions, half "
            f"of the rotated size], at most {min(q.shape[-1], k.shape[-1]) // 2}"
        )
    for what, tensor in (("q", q), ("k", k), ("cos", cos), ("sin", sin)):
        if not dtypes.is_floating(tensor.dtype):
            raise TypeError(f"{name}: {what} is {tensor.dtype}, not a floating dtype")
    if position_ids is None and q.shape[-3] > cos.shape[0]:
        raise ValueError(f"{name}: {q.shape[-3]} positions, and cos and sin have {cos.shape[0]}")
    if position_ids is not None and (
        position_ids.shape != q.shape[:-2] or position_ids.dtype not in (torch.int32, torch.int64)
    ):
        raise ValueError(
            f"{name}: position_ids must be int32 or int64 {tuple(q.shape[:-2])}, not "
            f"{position_ids.dtype} {tuple(position_ids.shape)}"
        )
    reason = memory.limit(q, k, cos, sin, position_ids)
    if reason is not None:
        raise ValueError(f"{name}: kernels can't read these tensors: {reason}")


def apply_rotary_pos_emb(
    q: torch.Tensor,
    k: torch.Tensor,
    cos: torch.Tensor,
    sin: torch.Tensor,
    position_ids: torch.Tensor | None = None,
    rotary_interleaved: bool = False,
    inplace: bool = False,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Turns each pair of q and k by the angle of its token's position.

    Args:
        q, k: [..., length, heads, size], floating, any strides; heads may differ.
        cos, sin: [positions, rotated // 2], of the angles; what lies beyond ``rotated`` in a head
            stays as it is.
        position_ids: int32 or int64 [..., length]; by default 0 to length - 1 in each sequence. A
            position outside the table makes its token NaN.
        rotary_interleaved: pairs are neighbours (GPT-J) and not the halves of a head (GPT-NeoX).
        inplace: write into q and k.

    Returns:
        (q, k) turned, contiguous where they are new; computed in float32 (float64 for float64).
        Differentiable any number of times with respect to q and k, unless in place.

    Raises:
        ValueError, TypeError: shapes, dtypes or devices do not fit.
        RuntimeError: in place on a tensor that requires a gradient.
    """
    _check(q, k, cos, sin, position_ids)
    cos = cos if cos.stride(1) == 1 else cos.contiguous()
    sin = sin if sin.stride(1) == 1 else sin.contiguous()
    positions = None if position_ids is None else position_ids.contiguous()
    compiling = torch.compiler.is_compiling()
    gradient = torch.is_grad_enabled() and (q.requires_grad or k.requires_grad)
    if inplace:
        if gradient:
            raise RuntimeError(
                "apply_rotary_pos_emb: in place on a tensor that requires a gradient: leave "
                "inplace out"
            )
        call = _rotary_inplace if compiling else _direct_inplace
        call(q, k, cos, sin, positions, rotary_interleaved)
        return q, k
    result: tuple[torch.Tensor, torch.Tensor]
    if compiling:
        result = _rotary(q, k, cos, sin, positions, rotary_interleaved, False)
        return result
    ledger.record("apply_rotary_pos_emb", "gems")
    if gradient:
        result = _Rotary.apply(q, k, cos, sin, positions, rotary_interleaved, False)
        return result
    return _rotated(q, k, cos, sin, positions, rotary_interleaved, False)
