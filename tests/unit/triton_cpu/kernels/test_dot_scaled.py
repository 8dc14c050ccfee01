# SPDX-License-Identifier: Apache-2.0
"""Microscaled products against float64: each element and each scale decoded by its definition."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl

from tests.unit.triton_cpu.kernels.tensors import assert_near, values

BLOCK = 32
"""Elements of K that share a scale (OCP Microscaling Formats 1.0, section 5.2)."""

# Sign, two bits of exponent, one of fraction (the same, section 5.3.3).
E2M1 = (0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6)

FP8 = {"e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2}


@triton.jit
def scaled_kernel(
    a_ptr,
    a_scale_ptr,
    b_ptr,
    b_scale_ptr,
    c_ptr,
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
    A_PACK: tl.constexpr,
    B_PACK: tl.constexpr,
    A_FORM: tl.constexpr,
    B_FORM: tl.constexpr,
):
    m, n, block = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K // 32)
    a_k, b_k = tl.arange(0, K // A_PACK), tl.arange(0, K // B_PACK)
    a = tl.load(a_ptr + m[:, None] * (K // A_PACK) + a_k[None, :])
    b = tl.load(b_ptr + b_k[:, None] * N + n[None, :])
    a_scale = a_scale_ptr
    if a_scale_ptr is not None:
        a_scale = tl.load(a_scale_ptr + m[:, None] * (K // 32) + block[None, :])
    b_scale = b_scale_ptr
    if b_scale_ptr is not None:
        b_scale = tl.load(b_scale_ptr + n[:, None] * (K // 32) + block[None, :])
    c = tl.dot_scaled(a, a_scale, A_FORM, b, b_scale, B_FORM)
    tl.store(c_ptr + m[:, None] * N + n[None, :], c)


def drawn(form: str, rows: int, k: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """An operand as the kernel gets it, K last, and its elements in float64."""
    if form in ("bf16", "fp16"):
        plain = values(torch.bfloat16 if form == "bf16" else torch.float16, (rows, k), seed)
        return plain, plain.double()
    if form == "e2m1":
        packed = values(torch.uint8, (rows, k // 2), seed)
        table = torch.tensor(E2M1, dtype=torch.float64)
        halves = torch.stack([table[(packed & 15).long()], table[(packed >> 4).long()]], -1)
        return packed, halves.reshape(rows, k)
    codes = values(torch.uint8, (rows, k), seed)
    # Codes that stand for infinity or no number have an exponent of ones.
    codes = torch.where(codes.view(FP8[form]).float().isfinite(), codes, codes & 0x8F)
    return codes, codes.view(FP8[form]).double()


def scales(rows: int, k: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Codes of e8m0, 2 ** (code - 127), and their values in float64."""
    generator = torch.Generator().manual_seed(seed)
    codes = torch.randint(100, 143, (rows, k // BLOCK), generator=generator, dtype=torch.uint8)
    return codes, torch.exp2(codes.double() - 127)


@pytest.mark.parametrize("scaled", ["left", "right", "both"])
@pytest.mark.parametrize(
    ("left", "right"),
    [("e4m3", "bf16"), ("e5m2", "fp16"), ("e2m1", "bf16"), ("e2m1", "e4m3"), ("e5m2", "e2m1")],
)
def test_products_of_every_format(left: str, right: str, scaled: str) -> None:
    if scaled != "left" and right in ("bf16", "fp16"):
        left, right, scaled = right, left, "right"
    m, n, k = 32, 64, 128
    a, wide_a = drawn(left, m, k, 1)
    b, wide_b = drawn(right, n, k, 2)
    a_scale = b_scale = None
    # What has no scale of its own is used as it is; packed elements always bring theirs.
    if scaled != "right" or left == "e2m1":
        a_scale, factors = scales(m, k, 3)
        wide_a = wide_a * factors.repeat_interleave(BLOCK, 1)
    if scaled != "left" or right == "e2m1":
        b_scale, factors = scales(n, k, 4)
        wide_b = wide_b * factors.repeat_interleave(BLOCK, 1)
    c = torch.empty(m, n)
    packs = [2 if form == "e2m1" else 1 for form in (left, right)]
    scaled_kernel[(1,)](a, a_scale, b.T.contiguous(), b_scale, c, m, n, k, *packs, left, right)
    # Scaled elements are exact in single precision, so what rounds is the sum alone.
    exact, size = wide_a @ wide_b.T, wide_a.abs() @ wide_b.T.abs()
    assert_near(c, exact, terms=k, scale=size)


def test_a_scale_that_is_no_number_makes_its_row_none() -> None:
    m, n, k = 16, 16, 64
    a, _ = drawn("e4m3", m, k, 1)
    b, _ = drawn("bf16", n, k, 2)
    a_scale, _ = scales(m, k, 3)
    a_scale[5, 1] = 255
    c = torch.empty(m, n)
    scaled_kernel[(1,)](a, a_scale, b.T.contiguous(), None, c, m, n, k, 1, 1, "e4m3", "bf16")
    assert c.isnan().all(1).tolist() == [row == 5 for row in range(m)]
