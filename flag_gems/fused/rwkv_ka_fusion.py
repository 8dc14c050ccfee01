# SPDX-License-Identifier: Apache-2.0
"""The key path of an RWKV-7 block (Peng et al., 2025) in one pass: three results of two inputs."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from flag_gems.runtime import device, dtypes, ledger, memory
from flag_gems.runtime.launcher import kernel
from flag_gems.runtime.tiling import next_power_of_2


@kernel
def rwkv_ka_fusion_kernel(
    k,
    kk,
    a,
    ka,
    out_k,
    out_kk,
    out_kka,
    rows,
    heads,
    size,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    COMPUTE: tl.constexpr,
):
    # A row is one head of one token.
    row = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    lane = tl.arange(0, BLOCK_N)
    mask = (row < rows)[:, None] & (lane < size)[None, :]
    place = row[:, None] * size + lane[None, :]
    channel = (row % heads)[:, None] * size + lane[None, :]
    key = tl.load(k + place, mask=mask, other=0.0).to(COMPUTE)
    rate = tl.load(a + place, mask=mask, other=0.0).to(COMPUTE)
    key_weight = tl.load(kk + channel, mask=mask, other=0.0).to(COMPUTE)
    rate_weight = tl.load(ka + channel, mask=mask, other=0.0).to(COMPUTE)
    tl.store(out_k + place, key * (1.0 + (rate - 1.0) * rate_weight), mask=mask)
    scaled = key * key_weight
    length = tl.sqrt(tl.sum(scaled * scaled, axis=1))
    # torch.nn.functional.normalize divides by at least 1e-12.
    unit = scaled / tl.maximum(length, 1e-12, propagate_nan=tl.PropagateNan.ALL)[:, None]
    tl.store(out_kk + place, unit, mask=mask)
    tl.store(out_kka + place, unit * rate, mask=mask)


@torch.library.custom_op(
    "flag_gems_python::rwkv_ka_fusion",
    mutates_args=(),
    schema="(Tensor k, Tensor kk, Tensor a, Tensor ka, int H, int N) -> (Tensor, Tensor, Tensor)",
)
def _rwkv_ka_fusion(
    k: torch.Tensor, kk: torch.Tensor, a: torch.Tensor, ka: torch.Tensor, H: int, N: int
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    ledger.record("rwkv_ka_fusion", "gems")
    k, kk, a, ka = (tensor.contiguous() for tensor in (k, kk, a, ka))
    out_k, out_kk, out_kka = torch.empty_like(k), torch.empty_like(k), torch.empty_like(k)
    rows = k.numel() // N
    if rows:
        width = next_power_of_2(N)
        height = max((1 << 12 if device.name == "cpu" else 1 << 10) // width, 1)
        rwkv_ka_fusion_kernel[(triton.cdiv(rows, height),)](
            k,
            kk,
            a,
            ka,
            out_k,
            out_kk,
            out_kka,
            rows,
            H,
            N,
            BLOCK_M=height,
            BLOCK_N=width,
            COMPUTE=dtypes.compute(k.dtype),
            num_warps=4,
        )
    return out_k, out_kk, out_kka


@_rwkv_ka_fusion.register_fake
def _(
    k: torch.Tensor, kk: torch.Tensor, a: torch.Tensor, ka: torch.Tensor, H: int, N: int
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    return k.new_empty(k.shape), k.new_empty(k.shape), k.new_empty(k.shape)


_direct = _rwkv_ka_fusion._init_fn


def rwkv_ka_fusion(
    k: torch.Tensor, kk: torch.Tensor, a: torch.Tensor, ka: torch.Tensor, H: int, N: int
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """What an RWKV-7 block makes of its keys.

    Args:
        k, a: [..., H * N], one floating dtype; any strides.
        kk, ka: [H * N], of the same dtype.
        H, N: heads and their size.

    Returns:
        ``k * (1 + (a - 1) * ka)``; u, which is ``k * kk`` made length 1 in each head; ``u * a``.
        All three like ``k``, computed in float32 (float64 for float64), not differentiable.

    Raises:
        ValueError: shapes, dtypes or devices do not fit.
        RuntimeError: an argument requires a gradient.
    """
    channels = H * N
    if (
        N < 1
        or k.dim() < 1
        or k.shape[-1] != channels
        or a.shape != k.shape
        or kk.numel() != channels
        or ka.numel() != channels
    ):
        raise ValueError(
            f"rwkv_ka_fusion: k {tuple(k.shape)}, kk {tuple(kk.shape)}, a {tuple(a.shape)}, ka "
            f"{tuple(ka.shape)} do not fit {H} heads of {N}"
        )
    if not dtypes.is_floating(k.dtype) or any(t.dtype != k.dtype for t in (kk, a, ka)):
        raise ValueError("rwkv_ka_fusion: k, kk, a and ka must share one floating dtype")
    reason = memory.limit(k, kk, a, ka)
    if reason is not None:
        raise ValueError(f"rwkv_ka_fusion: kernels can't read these tensors: {reason}")
    if torch.is_grad_enabled() and any(t.requires_grad for t in (k, kk, a, ka)):
        raise RuntimeError("rwkv_ka_fusion is not differentiable: call it under torch.no_grad()")
    call = _rwkv_ka_fusion if torch.compiler.is_compiling() else _direct
    result: tuple[torch.Tensor, torch.Tensor, torch.Tensor] = call(k, kk, a, ka, H, N)
    return result
