# SPDX-License-Identifier: Apache-2.0
"""Good: softmax in two passes over a row, with a running maximum and sum (online normaliser)."""

import torch
import triton
import triton.language as tl


@triton.jit
def online_softmax_kernel(x, out, columns, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * stride
    lane = tl.arange(0, BLOCK)
    peak = -float("inf")
    total = 0.0
    for start in range(0, columns, BLOCK):
        mask = start + lane < columns
        value = tl.load(x + row + start + lane, mask=mask, other=-float("inf")).to(tl.float32)
        higher = tl.maximum(peak, tl.max(value, axis=0))
        shift = tl.where(higher == -float("inf"), 0.0, higher)
        total = total * tl.exp(peak - shift) + tl.sum(tl.exp(value - shift), axis=0)
        peak = higher
    shift = tl.where(peak == -float("inf"), 0.0, peak)
    for start in range(0, columns, BLOCK):
        mask = start + lane < columns
        value = tl.load(x + row + start + lane, mask=mask, other=0.0).to(tl.float32)
        tl.store(out + row + start + lane, tl.exp(value - shift) / total, mask=mask)


def softmax(input, dim=-1, dtype=None):
    x = input if dtype is None else input.to(dtype)
    if x.dtype not in (torch.float16, torch.bfloat16, torch.float32):
        return torch.softmax(x, dim)
    rows = x.movedim(dim, -1).contiguous() if x.dim() else x.reshape(1)
    out = torch.empty_like(rows)
    if out.numel():
        columns = rows.shape[-1]
        block = min(triton.next_power_of_2(columns), 4096)
        grid = (rows.numel() // columns,)
        online_softmax_kernel[grid](rows, out, columns, columns, BLOCK=block)
    return out.movedim(-1, dim) if x.dim() else out.reshape(())
