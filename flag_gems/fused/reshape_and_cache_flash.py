# SPDX-License-Identifier: Apache-2.0
"""Writes new keys and values into a paged cache, one program a token."""

from __future__ import annotations

import torch
import triton.language as tl

from flag_gems.runtime import device, ledger
from flag_gems.runtime.launcher import kernel
from flag_gems.runtime.tiling import next_power_of_2

_FP8 = {
    "fp8": torch.float8_e4m3fn,
    "fp8_e4m3": torch.float8_e4m3fn,
    "fp8_e5m2": torch.float8_e5m2,
}
_PLAIN = ("auto", "half", "float16", "bfloat16", "float")
_LARGEST = {torch.float8_e4m3fn: 448.0, torch.float8_e5m2: 57344.0}
_TRITON_FP8 = {torch.float8_e4m3fn: tl.float8e4nv, torch.float8_e5m2: tl.float8e5}


@kernel
def reshape_and_cache_flash_kernel(
    key,
    value,
    key_cache,
    value_cache,
    slots,
    k_scale,
    v_scale,
    block_size,
    size,
    elements,
    key_token,
    key_head,
    value_token,
    value_head,
    key_block,
    key_slot,
    key_cache_head,
    value_block,
    value_slot,
    value_cache_head,
    BLOCK: tl.constexpr,
    SCALED: tl.constexpr,
    STORED: tl.constexpr,
    LARGEST: tl.constexpr,
):
    token = tl.program_id(0).to(tl.int64)
    slot = tl.load(slots + token).to(tl.int64)
    if slot >= 0:
        block = slot // block_size
        offset = slot % block_size
        element = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
        head = element // size
        lane = element % size
        mask = element < elements
        k = tl.load(key + token * key_token + head * key_head + lane, mask=mask)
        v = tl.load(value + token * value_token + head * value_head + lane, mask=mask)
        if SCALED:
            k = k.to(tl.float32) / tl.load(k_scale).to(tl.float32)
            v = v.to(tl.float32) / tl.load(v_scale).to(tl.float32)
            # Larger numbers become the largest; not a number stays what it is.
            k = tl.clamp(k, -LARGEST, LARGEST, propagate_nan=tl.PropagateNan.ALL).to(STORED)
            v = tl.clamp(v, -LARGEST, LARGEST, propagate_nan=tl.PropagateNan.ALL).to(STORED)
        k_place = block * key_block + offset * key_slot + head * key_cache_head + lane
        v_place = block * value_block + offset * value_slot + head * value_cache_head + lane
        tl.store(key_cache + k_place, k, mask=mask)
        tl.store(value_cache + v_place, v, mask=mask)


@torch.library.custom_op(
    "flag_gems_python::reshape_and_cache_flash",
    mutates_args=("key_cache", "value_cache"),
    schema="(Tensor key, Tensor value, Tensor(a!) key_cache, Tensor(b!) value_cache,"
    " Tensor slot_mapping, Tensor? k_scale, Tensor? v_scale) -> ()",
)
def _reshape_and_cache_flash(
    key: torch.Tensor,
    value: torch.Tensor,
    key_cache: torch.Tensor,
    value_cache: torch.Tensor,
    slot_mapping: torch.Tensor,
    k_scale: torch.Tensor | None,
    v_scale: torch.Tensor | None,
) -> None:
    ledger.record("reshape_and_cache_flash", "gems")
    tokens = slot_mapping.numel()
    heads, size = key.shape[1:]
    elements = heads * size
    if not tokens or not elements:
        return
    fp8 = key_cache.dtype in _LARGEST
    block = min(next_power_of_2(elements), 1 << 14 if device.name == "cpu" else 1 << 12)
    reshape_and_cache_flash_kernel[(tokens, -(-elements // block))](
        key,
        value,
        key_cache,
        value_cache,
        slot_mapping,
        k_scale if fp8 else key,
        v_scale if fp8 else key,
        key_cache.shape[1],
        size,
        elements,
        key.stride(0),
        key.stride(1),
        value.stride(0),
        value.stride(1),
        *key_cache.stride()[:3],
        *value_cache.stride()[:3],
        BLOCK=block,
        SCALED=fp8,
        STORED=_TRITON_FP8.get(key_cache.dtype),
        LARGEST=_LARGEST.get(key_cache.dtype, 0.0),
        num_warps=min(max(block // 256, 1), 8),
    )


_direct = _reshape_and_cache_flash._init_fn


def reshape_and_cache_flash(
    key: torch.Tensor,
    value: torch.Tensor,
    key_cache: torch.Tensor,
    value_cache: torch.Tensor,
    slot_mapping: torch.Tensor,
    kv_cache_dtype: str = "auto",
    k_scale: torch.Tensor | None = None,
    v_scale: torch.Tensor | None = None,
) -> None:
    """Stores each token's key and value in its slot of the caches.

    Args:
        key, value: [tokens or more, heads, size]; those past the last slot are padding.
        key_cache, value_cache: [blocks, block_size, heads, size], any strides but the last.
        slot_mapping: int32 or int64 [tokens], ``block * block_size + offset``; a negative slot
            leaves the token out. Two tokens of one slot leave either.
        kv_cache_dtype: ``auto`` keeps the dtype of key; ``fp8``, ``fp8_e4m3`` and ``fp8_e5m2``
            divide by ``k_scale`` and ``v_scale`` (one float32 each) and round, saturating.
            Caches are then of that dtype or uint8, which holds its bits.

    Raises:
        ValueError: shapes, dtypes or devices do not fit.
    """
    name = "reshape_and_cache_flash"
    fp8 = _FP8.get(kv_cache_dtype)
    if fp8 is None and kv_cache_dtype not in _PLAIN:
        known = ", ".join((*_PLAIN, *_FP8))
        raise ValueError(f"{name}: kv_cache_dtype is {kv_cache_dtype!r}, not one of {known}")
    if (
        key.dim() != 3
        or value.shape != key.shape
        or key_cache.dim() != 4
        or value_cache.shape != key_cache.shape
        or key_cache.shape[2:] != key.shape[1:]
    ):
        raise ValueError(
            f"{name}: key {tuple(key.shape)} and value {tuple(value.shape)} must be [tokens, heads,"
            f" size], the caches {tuple(key_cache.shape)} and {tuple(value_cache.shape)} [blocks, "
            "block_size, heads, size]"
        )
    if (
        slot_mapping.dim() != 1
        or slot_mapping.dtype not in (torch.int32, torch.int64)
        or slot_mapping.shape[0] > key.shape[0]
    ):
        raise ValueError(
            f"{name}: slot_mapping must be int32 or int64 with at most {key.shape[0]} slots, not "
            f"{slot_mapping.dtype} {tuple(slot_mapping.shape)}"
        )
    caches = [key_cache, value_cache]
    expected = key.dtype if fp8 is None else fp8
    for index, cache in enumerate(caches):
        if fp8 is not None and cache.dtype is torch.uint8:
            caches[index] = cache = cache.view(fp8)
        if cache.dtype != expected or cache.stride(3) != 1:
            raise ValueError(
                f"{name}: caches must be {expected} and contiguous in their last dimension, not "
                f"{cache.dtype} with strides {cache.stride()}"
            )
    if fp8 is not None and (k_scale is None or v_scale is None):
        raise ValueError(f"{name}: a cache of {kv_cache_dtype} needs k_scale and v_scale")
    if value.dtype != key.dtype or not key.dtype.is_floating_point:
        raise ValueError(f"{name}: key is {key.dtype}, value {value.dtype}: one floating dtype")
    if key.device.type != device.name or any(
        tensor.device != key.device for tensor in (value, *caches, slot_mapping)
    ):
        raise ValueError(f"{name}: all tensors must be on one {device.name} device")
    if key.stride(2) != 1 or value.stride(2) != 1:
        key, value = key.contiguous(), value.contiguous()
    call = _reshape_and_cache_flash if torch.compiler.is_compiling() else _direct
    call(key, value, *caches, slot_mapping.contiguous(), k_scale, v_scale)
