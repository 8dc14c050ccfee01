# SPDX-License-Identifier: Apache-2.0
"""The kernel of attention over packed sequences: one pass over the keys with an online softmax.

Dao, FlashAttention-2 (2023), with the logits in base 2. A tile of keys that no rule can cut off
skips the mask: of a long causal row that is all but the last tile or two.
"""

from __future__ import annotations

import triton
import triton.language as tl

from flag_gems.runtime.launcher import kernel


@triton.jit
def _attend(
    queries,
    peak,
    total,
    sums,
    k,
    v,
    table,
    start,
    first_key,
    k_length,
    diagonal,
    left,
    right,
    scale,
    softcap,
    slope,
    page_size,
    k_page,
    k_row,
    v_page,
    v_row,
    D: tl.constexpr,
    BLOCK_D: tl.constexpr,
    BLOCK_N: tl.constexpr,
    MASKED: tl.constexpr,
    PAGED: tl.constexpr,
    HAS_LEFT: tl.constexpr,
    HAS_RIGHT: tl.constexpr,
    HAS_ALIBI: tl.constexpr,
    HAS_SOFTCAP: tl.constexpr,
    PRECISION: tl.constexpr,
):
    # Joins keys start .. start + BLOCK_N into the running maximum, sum and output of each row.
    key = start + tl.arange(0, BLOCK_N)
    lane = tl.arange(0, BLOCK_D)
    inside = key < k_length
    if PAGED:
        if MASKED:
            page = tl.load(table + key // page_size, mask=inside, other=0).to(tl.int64)
        else:
            page = tl.load(table + key // page_size).to(tl.int64)
        slot = key % page_size
        k_place = page * k_page + slot * k_row
        v_place = page * v_page + slot * v_row
    else:
        k_place = (first_key + key) * k_row
        v_place = (first_key + key) * v_row
    k_pointers = k + lane[:, None] + k_place[None, :]
    v_pointers = v + v_place[:, None] + lane[None, :]
    if MASKED or BLOCK_D != D:
        k_mask = (lane < D)[:, None] & inside[None, :]
        v_mask = inside[:, None] & (lane < D)[None, :]
        logits = tl.dot(
            queries, tl.load(k_pointers, mask=k_mask, other=0.0), input_precision=PRECISION
        )
        values = tl.load(v_pointers, mask=v_mask, other=0.0)
    else:
        logits = tl.dot(queries, tl.load(k_pointers), input_precision=PRECISION)
        values = tl.load(v_pointers)
    if HAS_SOFTCAP:
        # tanh by exp2: 2.885 is 2 / ln 2. Its error near 0 is one of float32 at 1.
        bent = 1.0 - 2.0 / (tl.exp2(logits * (scale * 2.8853900817779268)) + 1.0)
        logits = bent * (softcap * 1.4426950408889634)
    else:
        logits *= scale
    if HAS_ALIBI:
        gap = tl.abs(diagonal[:, None] - key[None, :]).to(tl.float32)
        logits -= slope[:, None] * gap
    if MASKED:
        allowed = inside[None, :]
        if HAS_LEFT:
            allowed = allowed & (key[None, :] >= diagonal[:, None] - left)
        if HAS_RIGHT:
            allowed = allowed & (key[None, :] <= diagonal[:, None] + right)
        logits = tl.where(allowed, logits, -float("inf"))
    higher = tl.maximum(peak, tl.max(logits, axis=1))
    shift = higher
    if MASKED:
        # While a row has seen no key there is no finite maximum to subtract.
        shift = tl.where(higher == -float("inf"), 0.0, higher)
    powers = tl.exp2(logits - shift[:, None])
    rescale = tl.exp2(peak - shift)
    total = total * rescale + tl.sum(powers, axis=1)
    sums = tl.dot(
        powers.to(values.dtype), values, sums * rescale[:, None], input_precision=PRECISION
    )
    return higher, total, sums


@kernel
def flash_attention_kernel(
    q,
    k,
    v,
    out,
    lse,
    q_starts,
    k_starts,
    k_used,
    table,
    slopes,
    tiles,
    batches,
    kv_heads,
    left,
    right,
    scale,
    softcap,
    page_size,
    q_row,
    q_head,
    k_page,
    k_row,
    k_head,
    v_page,
    v_row,
    v_head,
    out_row,
    out_head,
    lse_head,
    table_row,
    slopes_row,
    D: tl.constexpr,
    BLOCK_D: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    GROUP: tl.constexpr,
    PACK: tl.constexpr,
    PAGED: tl.constexpr,
    HAS_USED: tl.constexpr,
    HAS_LEFT: tl.constexpr,
    HAS_RIGHT: tl.constexpr,
    HAS_ALIBI: tl.constexpr,
    HAS_SOFTCAP: tl.constexpr,
    KEEP_LSE: tl.constexpr,
    PRECISION: tl.constexpr,
):
    # GROUP query heads share a key head. PACK of them (1 or all) are rows of one tile: row r is
    # position r // PACK of head r % PACK. Late tiles come first, as causal rows are longer there.
    head_programs: tl.constexpr = GROUP // PACK
    across = batches * kv_heads * head_programs
    tile = tiles - 1 - tl.program_id(0) // across
    rest = tl.program_id(0) % across
    batch = rest // (kv_heads * head_programs)
    first_head = rest % (kv_heads * head_programs) * PACK
    kv_head = (first_head // GROUP).to(tl.int64)

    q_start = tl.load(q_starts + batch).to(tl.int64)
    q_length = (tl.load(q_starts + batch + 1) - q_start).to(tl.int32)
    if tile * BLOCK_M >= q_length * PACK:
        return
    first_key = tl.full((), 0, tl.int64)
    if not PAGED:
        first_key = tl.load(k_starts + batch).to(tl.int64)
    if HAS_USED:
        k_length = tl.load(k_used + batch).to(tl.int32)
    else:
        k_length = (tl.load(k_starts + batch + 1) - first_key).to(tl.int32)

    row = tile * BLOCK_M + tl.arange(0, BLOCK_M)
    position = row // PACK
    head = first_head + row % PACK
    lane = tl.arange(0, BLOCK_D)
    valid = position < q_length
    place = (q_start + position) * q_row + head * q_head
    mask = valid[:, None] & (lane < D)[None, :]
    queries = tl.load(q + place[:, None] + lane[None, :], mask=mask, other=0.0)

    # The key under row i on the diagonal that ends in the last query and the last key.
    offset = k_length - q_length
    diagonal = position + offset
    lowest = tile * BLOCK_M // PACK + offset
    highest = tl.minimum((tile * BLOCK_M + BLOCK_M - 1) // PACK, q_length - 1) + offset
    begin = 0
    whole_begin = 0
    end = k_length
    whole_end = k_length
    if HAS_LEFT:
        begin = tl.maximum(lowest - left, 0) // BLOCK_N * BLOCK_N
        whole_begin = (tl.maximum(highest - left, 0) + BLOCK_N - 1) // BLOCK_N * BLOCK_N
    if HAS_RIGHT:
        end = tl.maximum(tl.minimum(k_length, highest + right + 1), 0)
        whole_end = tl.maximum(tl.minimum(k_length, lowest + right + 1), 0)
    whole_end = whole_end // BLOCK_N * BLOCK_N
    if HAS_LEFT:
        whole_begin = tl.minimum(whole_begin, end)
        whole_end = tl.maximum(whole_end, whole_begin)

    slope = tl.zeros((BLOCK_M,), tl.float32)
    if HAS_ALIBI:
        slope = tl.load(slopes + batch * slopes_row + head, mask=valid, other=0.0)
        slope = slope.to(tl.float32) * 1.4426950408889634
    k += kv_head * k_head
    v += kv_head * v_head
    table += batch * table_row
    peak = tl.full((BLOCK_M,), -float("inf"), tl.float32)
    total = tl.zeros((BLOCK_M,), tl.float32)
    sums = tl.zeros((BLOCK_M, BLOCK_D), tl.float32)
    if HAS_LEFT:
        for start in range(begin, whole_begin, BLOCK_N):
            peak, total, sums = _attend(
                queries, peak, total, sums, k, v, table, start, first_key, k_length, diagonal,
                left, right, scale, softcap, slope, page_size, k_page, k_row, v_page, v_row,
                D, BLOCK_D, BLOCK_N, True, PAGED, HAS_LEFT, HAS_RIGHT, HAS_ALIBI, HAS_SOFTCAP,
                PRECISION,
            )  # fmt: skip
    for start in range(whole_begin, whole_end, BLOCK_N):
        peak, total, sums = _attend(
            queries, peak, total, sums, k, v, table, start, first_key, k_length, diagonal,
            left, right, scale, softcap, slope, page_size, k_page, k_row, v_page, v_row,
            D, BLOCK_D, BLOCK_N, False, PAGED, HAS_LEFT, HAS_RIGHT, HAS_ALIBI, HAS_SOFTCAP,
            PRECISION,
        )  # fmt: skip
    for start in range(whole_end, end, BLOCK_N):
        peak, total, sums = _attend(
            queries, peak, total, sums, k, v, table, start, first_key, k_length, diagonal,
            left, right, scale, softcap, slope, page_size, k_page, k_row, v_page, v_row,
            D, BLOCK_D, BLOCK_N, True, PAGED, HAS_LEFT, HAS_RIGHT, HAS_ALIBI, HAS_SOFTCAP,
            PRECISION,
        )  # fmt: skip

    # A row without a key has sum 0: its output is 0 and its logarithm -inf.
    result = sums / tl.where(total == 0.0, 1.0, total)[:, None]
    place = (q_start + position) * out_row + head * out_head
    tl.store(out + place[:, None] + lane[None, :], result.to(out.dtype.element_ty), mask=mask)
    if KEEP_LSE:
        logarithm = (peak + tl.log2(total)) * 0.6931471805599453
        tl.store(lse + head * lse_head + q_start + position, logarithm, mask=valid)
