# SPDX-License-Identifier: Apache-2.0
"""Accuracy of the write into a paged cache: bit for bit."""

from __future__ import annotations

import pytest
import torch

import flag_gems
from flag_gems.testing import assert_equal, options
from flag_gems.testing.operands import FLOATING, values

pytestmark = pytest.mark.reshape_and_cache_flash

SIZES = [(1, 8), (3, 80)]
if not options.quick:
    SIZES += [(8, 120), (40, 256)]

SLOTS = [3, -1, 22, 8, 0]


def _expected(cache, source, slots):
    flat = cache.clone().flatten(0, 1)
    for token, slot in enumerate(slots):
        if slot >= 0:
            flat[slot] = source[token]
    return flat.view(cache.shape)


def _written(key, value, key_cache, value_cache, slots, *others):
    mapping = torch.tensor(slots, device=flag_gems.device)
    flag_gems.reshape_and_cache_flash(key, value, key_cache, value_cache, mapping, *others)


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize(("heads", "size"), SIZES)
def test_reshape_and_cache_flash(heads, size, dtype):
    qkv = values((7, 3, heads, size), dtype)
    caches = [values((6, 4, heads, size), dtype), values((6, 4, heads, size), dtype) * 2]
    expected = [_expected(c, qkv[:, i + 1], SLOTS) for i, c in enumerate(caches)]
    _written(qkv[:, 1], qkv[:, 2], *caches, SLOTS)
    for cache, right in zip(caches, expected, strict=True):
        assert_equal(cache, right)


@pytest.mark.parametrize("order", ["pages of both", "heads before slots", "every other block"])
def test_reshape_and_cache_flash_into_strided_caches(order):
    whole = values((12, 2, 4, 3, 10), torch.float32)
    if order == "pages of both":
        caches = [whole[:6, 0], whole[:6, 1]]
    elif order == "heads before slots":
        caches = [values((6, 3, 4, 10), torch.float32).transpose(1, 2), whole[6:, 0]]
    else:
        caches = [whole[::2, 0], whole[1::2, 1]]
    key, value = values((5, 3, 10), torch.float32), values((5, 3, 20), torch.float32)[..., ::2]
    expected = [_expected(c, x, SLOTS) for c, x in zip(caches, (key, value), strict=True)]
    _written(key, value, *caches, SLOTS)
    for cache, right in zip(caches, expected, strict=True):
        assert_equal(cache, right)


@pytest.mark.parametrize("as_bytes", [True, False])
@pytest.mark.parametrize(
    ("name", "dtype", "largest"),
    [("fp8", torch.float8_e4m3fn, 448.0), ("fp8_e5m2", torch.float8_e5m2, 57344.0)],
)
def test_reshape_and_cache_flash_in_fp8(name, dtype, largest, as_bytes):
    key, value = values((5, 2, 8), torch.float32) * 30, values((5, 2, 16), torch.float32)[..., :8]
    key[0, 0, 0], key[0, 0, 1] = 1e6, float("nan")
    scales = [torch.tensor(scale, device=flag_gems.device) for scale in (0.125, 0.5)]
    bits = [torch.zeros((6, 4, 2, 8), dtype=torch.uint8, device=flag_gems.device) for _ in "kv"]
    expected = []
    for cache, source, scale in zip(bits, (key, value), scales, strict=True):
        stored = (source / scale).clamp(-largest, largest).to(dtype)
        expected.append(_expected(cache, stored.view(torch.uint8), SLOTS).view(dtype).float())
    caches = bits if as_bytes else [cache.view(dtype) for cache in bits]
    _written(key, value, *caches, SLOTS, name, *scales)
    for cache, right in zip(bits, expected, strict=True):
        assert_equal(cache.view(dtype).float(), right, equal_nan=True)


def test_reshape_and_cache_flash_of_no_token_and_of_unfit_arguments():
    key, cache = values((5, 2, 8), torch.float32), values((6, 4, 2, 8), torch.float32)
    before = cache.clone()
    flag_gems.reshape_and_cache_flash(
        key, key, cache, cache, torch.zeros(0, dtype=torch.int64, device=flag_gems.device)
    )
    assert_equal(cache, before)
    with pytest.raises(ValueError, match="kv_cache_dtype"):
        _written(key, key, cache, cache, SLOTS, "int4")
    with pytest.raises(ValueError, match="caches must be"):
        _written(key.half(), key.half(), cache, cache, SLOTS)
    with pytest.raises(ValueError, match="slot_mapping"):
        _written(key[:2], key[:2], cache, cache, SLOTS)
    with pytest.raises(ValueError, match="needs k_scale"):
        _written(key, key, cache.to(torch.uint8), cache.to(torch.uint8), SLOTS, "fp8")
