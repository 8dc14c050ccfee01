# SPDX-License-Identifier: Apache-2.0
"""Draws of each random function, printed as bits in JSON when run as a program."""

from __future__ import annotations

import json

import torch
import triton
import triton.language as tl

N = 1024


@triton.jit
def draw_kernel(bits_ptr, uniform_ptr, normal_ptr, four_ptr, seed, N: tl.constexpr):
    index = tl.arange(0, N)
    tl.store(bits_ptr + index, tl.randint(seed, index).to(tl.int32, bitcast=True))
    tl.store(uniform_ptr + index, tl.rand(seed, index))
    tl.store(normal_ptr + index, tl.randn(seed, index))
    a, b, c, d = tl.randint4x(seed, index)
    tl.store(four_ptr + index, (a ^ b ^ c ^ d).to(tl.int32, bitcast=True))


def draws() -> dict[str, torch.Tensor]:
    """1024 numbers of each kind for one seed: int32 bits, or float32."""
    bits, four = torch.empty(N, dtype=torch.int32), torch.empty(N, dtype=torch.int32)
    uniform, normal = torch.empty(N), torch.empty(N)
    draw_kernel[(1,)](bits, uniform, normal, four, 12345, N)
    return {"bits": bits, "uniform": uniform, "normal": normal, "four": four}


if __name__ == "__main__":
    print(json.dumps({name: x.view(torch.int32).tolist() for name, x in draws().items()}))
