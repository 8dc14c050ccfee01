# SPDX-License-Identifier: Apache-2.0
"""Accuracy of attention over packed sequences, against a softmax in float64 that is written out."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch

import flag_gems
from flag_gems.testing import assert_close, options, to_reference
from flag_gems.testing.operands import FLOATING, values

pytestmark = pytest.mark.flash_attn_varlen_func

QUERIES, KEYS = [1, 70, 0, 33, 5], [90, 70, 12, 20, 0]
"""One token of a long sequence, a square, no query, more queries than keys, no key."""

HEADS = [(4, 4, 64), (6, 2, 24)]
if not options.quick:
    HEADS += [(4, 1, 128), (5, 1, 256), (2, 2, 8)]

RULES = {
    "full": {},
    "causal": {"causal": True},
    "window": {"window_size": (7, 3)},
    "causal window": {"causal": True, "window_size": (33, 5)},
    "softcap": {"softcap": 5.0},
    "scale": {"softmax_scale": -0.3, "causal": True},
}


def _starts(lengths):
    starts = torch.tensor([0, *lengths], dtype=torch.int32).cumsum(0, dtype=torch.int32)
    return starts.to(flag_gems.device)


def _sequence(q, k, v, causal=False, window_size=(-1, -1), softcap=0.0, softmax_scale=None,
              slopes=None):  # fmt: skip
    """Output and logarithms of one sequence, q [m, h, d], k and v [n, h', d], all in float64."""
    group = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
    scale = q.shape[2] ** -0.5 if softmax_scale is None else softmax_scale
    logits = torch.einsum("qhd,khd->hqk", q, k) * scale
    if softcap:
        logits = softcap * torch.tanh(logits / softcap)
    query = torch.arange(q.shape[0], device=q.device)[:, None] + k.shape[0] - q.shape[0]
    key = torch.arange(k.shape[0], device=q.device)[None]
    if slopes is not None:
        logits = logits - slopes[:, None, None] * (query - key).abs()
    left, right = window_size
    hidden = torch.zeros_like(query - key, dtype=torch.bool)
    if left >= 0:
        hidden |= key < query - left
    if causal or right >= 0:
        hidden |= key > query + (0 if causal else right)
    logits = logits.masked_fill(hidden, -torch.inf)
    weights = torch.softmax(logits, -1).nan_to_num(0.0)
    return torch.einsum("hqk,khd->qhd", weights, v), torch.logsumexp(logits, -1)


def _check(res, lse, q, sequences, q_starts, dtype, slopes=None, **rules):
    """Holds packed results against each sequence; ``sequences`` are its keys and values."""
    wide = to_reference(q, upcast=True)
    for index, (first, last) in enumerate(pairwise(q_starts.tolist())):
        keys, vals = (to_reference(one, upcast=True) for one in sequences[index])
        own = None if slopes is None else to_reference(slopes, upcast=True)
        own = own[index] if own is not None and own.dim() == 2 else own
        ref, ref_lse = _sequence(wide[first:last], keys, vals, slopes=own, **rules)
        # Weights are rounded to the dtype before they meet values, none of which is far above 4.
        rounding = 4 * torch.finfo(dtype).eps / 2
        assert_close(res[first:last], ref, dtype, atol=max(rounding, 1e-5))
        if lse is not None:
            assert_close(lse[:, first:last], ref_lse, torch.float32, atol=1e-5)


def _packed(heads, kv_heads, size, dtype):
    q = values((sum(QUERIES), heads, size), dtype)
    k, v = (
        values((sum(KEYS), kv_heads, size), dtype),
        values((sum(KEYS) + 1, kv_heads, size), dtype)[1:],
    )
    starts = _starts(KEYS)
    bounds = list(pairwise(starts.tolist()))
    return q, k, v, _starts(QUERIES), starts, [(k[a:b], v[a:b]) for a, b in bounds]


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("heads", "kv_heads", "size"), HEADS)
def test_flash_attn_varlen_func(heads, kv_heads, size, rule, dtype):
    q, k, v, q_starts, k_starts, sequences = _packed(heads, kv_heads, size, dtype)
    res, lse = flag_gems.flash_attn_varlen_func(
        q, k, v, max(QUERIES), q_starts, max(KEYS), k_starts, return_softmax_lse=True, **RULES[rule]
    )
    _check(res, lse, q, sequences, q_starts, dtype, **RULES[rule])


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("by_sequence", [False, True])
@pytest.mark.parametrize("rule", ["full", "causal"])
def test_attention_with_alibi(rule, by_sequence, dtype):
    q, k, v, q_starts, k_starts, sequences = _packed(4, 2, 32, dtype)
    slopes = values((5, 4) if by_sequence else (4,), torch.float32).abs()
    res = flag_gems.flash_attn_varlen_func(
        q, k, v, max(QUERIES), q_starts, max(KEYS), k_starts, alibi_slopes=slopes, **RULES[rule]
    )
    _check(res, None, q, sequences, q_starts, dtype, slopes=slopes, **RULES[rule])


@pytest.mark.flash_attn_varlen_opt_func
@pytest.mark.parametrize("function", ["flash_attn_varlen_func", "flash_attn_varlen_opt_func"])
@pytest.mark.parametrize("rule", ["causal", "causal window", "window"])
@pytest.mark.parametrize(("queries", "page"), [([1, 5, 40], 16), ([1, 1, 1], 24), ([2, 1, 3], 100)])
def test_attention_over_a_paged_cache(queries, page, rule, function):
    dtype, keys = FLOATING[-1], [133, 18, 64]
    pages = -(-max(keys) // page)
    q = values((sum(queries), 8, 64), dtype)
    k = values((3 * pages * 2, page, 2, 64), dtype)[::2]
    v = values((3 * pages, page, 2, 65), dtype)[..., :64]
    order = torch.randperm(3 * pages, generator=torch.Generator().manual_seed(3))
    table = order.view(3, pages).int().to(flag_gems.device)
    used = torch.tensor(keys, dtype=torch.int32, device=flag_gems.device)
    q_starts = _starts(queries)
    res = getattr(flag_gems, function)(
        q=q, k=k, v=v, cu_seqlens_q=q_starts, seqused_k=used, max_seqlen_q=max(queries),
        max_seqlen_k=max(keys), block_table=table, fa_version=2, num_splits=0, **RULES[rule],
    )  # fmt: skip
    sequences = [
        tuple(cache[table[index].long()].flatten(0, 1)[:length] for cache in (k, v))
        for index, length in enumerate(keys)
    ]
    _check(res, None, q, sequences, q_starts, dtype, **RULES[rule])


def test_attention_of_strided_tensors_into_out():
    qkv = values((64, 3, 4, 32), torch.float32)
    q, k, v = qkv.unbind(1)
    out = torch.empty((64, 4, 64), device=flag_gems.device)[..., :32]
    starts = _starts([40, 24])
    res = flag_gems.flash_attn_varlen_func(q, k, v, 40, starts, 40, starts, causal=True, out=out)
    assert res is out
    _check(out, None, q, [(k[:40], v[:40]), (k[40:], v[40:])], starts, torch.float32, causal=True)


def test_a_sequence_does_not_see_what_lies_beyond_it():
    """The last tile of a sequence reads past its end; NaN there must leave no trace."""
    q, k, v = (values((60, 2, 16), torch.float32) for _ in range(3))
    k[30:], v[30:] = float("nan"), float("nan")
    starts = _starts([30, 30])
    res = flag_gems.flash_attn_varlen_func(q, k, v, 30, starts, 30, starts)
    assert not res[:30].isnan().any()
    assert res[30:].isnan().all()


def test_seqused_k_shortens_packed_keys():
    q, k, v = (values((24, 2, 16), torch.float32) for _ in range(3))
    starts, used = _starts([12, 12]), torch.tensor([5, 12], dtype=torch.int32).to(flag_gems.device)
    res = flag_gems.flash_attn_varlen_func(q, k, v, 12, starts, 12, starts, used)
    _check(res, None, q, [(k[:5], v[:5]), (k[12:], v[12:])], starts, torch.float32)


def test_attention_refuses_what_it_can_not_do():
    q = values((6, 2, 16), torch.float32)
    starts = _starts([6])

    def attend(q=q, k=q, v=q, **others):
        return flag_gems.flash_attn_varlen_func(q, k, v, 6, starts, 6, starts, **others)

    for name, value in (("dropout_p", 0.1), ("return_attn_probs", True), ("q_v", q), ("s_aux", q)):
        with pytest.raises(NotImplementedError, match=name):
            attend(**{name: value})
    with pytest.raises(NotImplementedError, match="gradient"):
        attend(q=q.clone().requires_grad_())
    with pytest.raises(TypeError, match="share one dtype"):
        attend(k=q.half())
    with pytest.raises(ValueError, match="no multiple"):
        attend(k=values((6, 3, 16), torch.float32), v=values((6, 3, 16), torch.float32))
    with pytest.raises(ValueError, match="alibi_slopes"):
        attend(alibi_slopes=torch.ones(3, device=flag_gems.device))
    with pytest.raises(ValueError, match="out must"):
        attend(out=q[:3])
    with pytest.raises(ValueError, match="seqused_k and an int32 block_table"):
        attend(k=q[None], v=q[None], block_table=starts[:1, None])
    with pytest.raises(ValueError, match="cu_seqlens_q must be"):
        flag_gems.flash_attn_varlen_func(q, q, q, 6, starts.long(), 6, starts)
    attend()
