# SPDX-License-Identifier: Apache-2.0
"""The kernels of matrix products: ``beta * bias + alpha * a @ b``, one product or many.

Three ways to the same numbers. ``product`` reads through pointers and takes any strides.
``product_by_descriptor`` reads tiles through tensor descriptors (on Hopper and later its copies are
the hardware's own) and keeps one program on each multiprocessor for many tiles. Where a product has
few tiles and a long sum, ``product`` is split along the sum and ``join_parts`` adds the parts up in
a fixed order, so that a result does not change from run to run.
"""

from __future__ import annotations

import triton
import triton.language as tl

from flag_gems.runtime.launcher import kernel


@triton.jit
def _tile_of(program, tiles_m, tiles_n, GROUP: tl.constexpr):
    # GROUP tile rows are walked down before the next tile column, so that tiles of b stay in cache.
    group = program // (GROUP * tiles_n)
    first = group * GROUP
    height = tl.minimum(tiles_m - first, GROUP)
    local = program % (GROUP * tiles_n)
    return first + local % height, local // height


@triton.jit
def _scaled(total, scale, ACCUMULATE: tl.constexpr):
    # float64 comes as its bits, because Triton would pass a Python float as float32.
    if tl.float64 == ACCUMULATE:
        return total * scale.to(tl.int64).to(tl.float64, bitcast=True)
    return total * scale


@triton.jit
def _finish(
    total,
    bias,
    m,
    n,
    mask,
    bias_row,
    bias_column,
    alpha,
    beta,
    HAS_BIAS: tl.constexpr,
    SCALED: tl.constexpr,
    ACCUMULATE: tl.constexpr,
):
    if SCALED:
        total = _scaled(total, alpha, ACCUMULATE)
    if HAS_BIAS:
        place = bias + m[:, None] * bias_row + n[None, :] * bias_column
        added = tl.load(place, mask=mask, other=0.0).to(ACCUMULATE)
        if SCALED:
            added = _scaled(added, beta, ACCUMULATE)
        total += added
    return total


@kernel(do_not_specialize=["alpha", "beta"])
def product(
    a,
    b,
    bias,
    out,
    M,
    N,
    K,
    chunk,
    a_batch,
    a_row,
    a_column,
    b_batch,
    b_row,
    b_column,
    bias_batch,
    bias_row,
    bias_column,
    out_batch,
    out_row,
    out_column,
    alpha,
    beta,
    HAS_BIAS: tl.constexpr,
    SCALED: tl.constexpr,
    WIDE: tl.constexpr,
    EVEN_M: tl.constexpr,
    EVEN_N: tl.constexpr,
    EVEN_K: tl.constexpr,
    SPLIT: tl.constexpr,
    WIDEN: tl.constexpr,
    PRECISION: tl.constexpr,
    ACCUMULATE: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP: tl.constexpr,
):
    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles_n = tl.cdiv(N, BLOCK_N)
    program = tl.program_id(0)
    batch = (program // (tiles_m * tiles_n)).to(tl.int64)
    tile_m, tile_n = _tile_of(program % (tiles_m * tiles_n), tiles_m, tiles_n, GROUP)
    part = tl.program_id(1)

    m = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    k = part * chunk + tl.arange(0, BLOCK_K)
    last = tl.minimum(K, (part + 1) * chunk)
    if WIDE:
        m = m.to(tl.int64)
        n = n.to(tl.int64)
        k = k.to(tl.int64)
    a_tile = a + batch * a_batch + m[:, None] * a_row + k[None, :] * a_column
    b_tile = b + batch * b_batch + k[:, None] * b_row + n[None, :] * b_column
    total = tl.zeros((BLOCK_M, BLOCK_N), ACCUMULATE)
    for start in range(0, chunk, BLOCK_K):
        if EVEN_K:
            left = tl.load(a_tile, mask=None if EVEN_M else (m < M)[:, None])
            right = tl.load(b_tile, mask=None if EVEN_N else (n < N)[None, :])
        else:
            inside = k < last - start
            left = tl.load(a_tile, mask=(m < M)[:, None] & inside[None, :], other=0.0)
            right = tl.load(b_tile, mask=inside[:, None] & (n < N)[None, :], other=0.0)
        if WIDEN:
            left = left.to(ACCUMULATE)
            right = right.to(ACCUMULATE)
        total = tl.dot(left, right, total, input_precision=PRECISION, out_dtype=ACCUMULATE)
        a_tile += tl.cast(a_column, tl.int64) * BLOCK_K
        b_tile += tl.cast(b_row, tl.int64) * BLOCK_K

    mask = (m < M)[:, None] & (n < N)[None, :]
    if SPLIT:
        # Parts are laid out [part, batch, M, N].
        batches = tl.num_programs(0) // (tiles_m * tiles_n)
        slab = (part * batches + batch) * M
        place = out + (slab + m)[:, None] * N + n[None, :]
        tl.store(place, total, mask=mask)
    else:
        total = _finish(
            total,
            bias + batch * bias_batch,
            m,
            n,
            mask,
            bias_row,
            bias_column,
            alpha,
            beta,
            HAS_BIAS,
            SCALED,
            ACCUMULATE,
        )
        place = out + batch * out_batch + m[:, None] * out_row + n[None, :] * out_column
        tl.store(place, total, mask=mask)


@kernel(do_not_specialize=["alpha", "beta"])
def join_parts(
    parts,
    bias,
    out,
    count,
    batches,
    M,
    N,
    bias_batch,
    bias_row,
    bias_column,
    out_batch,
    out_row,
    out_column,
    alpha,
    beta,
    HAS_BIAS: tl.constexpr,
    SCALED: tl.constexpr,
    ACCUMULATE: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles_n = tl.cdiv(N, BLOCK_N)
    program = tl.program_id(0)
    batch = (program // (tiles_m * tiles_n)).to(tl.int64)
    local = program % (tiles_m * tiles_n)
    m = (local // tiles_n).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = (local % tiles_n).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (m < M)[:, None] & (n < N)[None, :]
    total = tl.zeros((BLOCK_M, BLOCK_N), ACCUMULATE)
    place = parts + (batch * M + m)[:, None] * N + n[None, :]
    for _ in range(count):
        total += tl.load(place, mask=mask, other=0.0)
        place += tl.cast(batches, tl.int64) * M * N
    total = _finish(
        total,
        bias + batch * bias_batch,
        m,
        n,
        mask,
        bias_row,
        bias_column,
        alpha,
        beta,
        HAS_BIAS,
        SCALED,
        ACCUMULATE,
    )
    tl.store(out + batch * out_batch + m[:, None] * out_row + n[None, :] * out_column, total, mask)


@kernel(do_not_specialize=["alpha", "beta"])
def product_by_descriptor(
    a,
    b,
    out,
    bias,
    M,
    N,
    K,
    batches,
    bias_batch,
    bias_row,
    bias_column,
    alpha,
    beta,
    A_BY_ROWS: tl.constexpr,
    B_BY_ROWS: tl.constexpr,
    HAS_BIAS: tl.constexpr,
    SCALED: tl.constexpr,
    PRECISION: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP: tl.constexpr,
    HALVES: tl.constexpr,
    FLATTEN: tl.constexpr,
    SPECIALIZE: tl.constexpr,
):
    # The matrices of a batch lie below each other: one descriptor serves them all, as long as no
    # tile reaches into the next matrix.
    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles_n = tl.cdiv(N, BLOCK_N)
    each = tiles_m * tiles_n
    for program in tl.range(
        tl.program_id(0),
        each * batches,
        tl.num_programs(0),
        flatten=FLATTEN,
        warp_specialize=SPECIALIZE,
    ):
        batch = program // each
        tile_m, tile_n = _tile_of(program % each, tiles_m, tiles_n, GROUP)
        row = tile_m * BLOCK_M
        column = tile_n * BLOCK_N
        total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
        for start in range(0, K, BLOCK_K):
            if A_BY_ROWS:
                left = a.load([batch * M + row, start])
            else:
                left = a.load([batch * K + start, row]).T
            if B_BY_ROWS:
                right = b.load([batch * K + start, column])
            else:
                right = b.load([batch * N + column, start]).T
            total = tl.dot(left, right, total, input_precision=PRECISION)
        if HAS_BIAS or SCALED:
            m = row + tl.arange(0, BLOCK_M)
            n = column + tl.arange(0, BLOCK_N)
            total = _finish(
                total,
                bias + batch.to(tl.int64) * bias_batch,
                m.to(tl.int64),
                n.to(tl.int64),
                (m < M)[:, None] & (n < N)[None, :],
                bias_row,
                bias_column,
                alpha,
                beta,
                HAS_BIAS,
                SCALED,
                tl.float32,
            )
        if HALVES:
            # Two narrow stores need half the shared memory of a wide one, which then holds one more
            # stage of the loop.
            pair = total.reshape(BLOCK_M, 2, BLOCK_N // 2).permute(0, 2, 1)
            left_half, right_half = pair.split()
            out.store([batch * M + row, column], left_half.to(out.dtype))
            out.store([batch * M + row, column + BLOCK_N // 2], right_half.to(out.dtype))
        else:
            out.store([batch * M + row, column], total.to(out.dtype))
