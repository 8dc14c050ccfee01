# SPDX-License-Identifier: Apache-2.0
"""device_print writes to standard output, device_assert stops the launch, inline PTX is refused."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import triton
import triton.language as tl

ROOT = Path(__file__).parents[4]

PRINTING = """
import torch, triton, triton.language as tl
from tests.unit.triton_cpu.kernels.test_printing import print_kernel
print_kernel[(2,)](torch.arange(4, dtype=torch.int32) * 11, 4)
"""


@triton.jit
def print_kernel(x_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.device_print("value", x)


def test_each_element_of_each_program_is_printed() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PRINTING],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    lines = [line for line in done.stdout.splitlines() if "value" in line]
    for program in range(2):
        for value in range(4):
            wanted = [line for line in lines if f"pid ({program}, 0, 0)" in line]
            assert any(line.split()[-1] == str(value * 11) for line in wanted), done.stdout


@triton.jit
def assert_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    index = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + index, mask=index < n, other=1)
    tl.device_assert(x > 0, "must be positive", mask=index < n)
    tl.store(out_ptr + index, x, mask=index < n)


def test_assertion_raises_only_for_a_false_unmasked_lane() -> None:
    x = torch.arange(1, 33, dtype=torch.int32)
    out = torch.zeros_like(x)
    assert_kernel[(1,)](x, out, 20, 32, debug=True)
    assert out.sum().item() == x[:20].sum().item()
    x[25] = -1
    assert_kernel[(1,)](x, out, 20, 32, debug=True)
    x[3] = 0
    with pytest.raises(RuntimeError, match="must be positive"):
        assert_kernel[(1,)](x, out, 20, 32, debug=True)


@triton.jit
def assembly_kernel(x_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    y = tl.inline_asm_elementwise(
        "add.s32 $0, $1, 1;", "=r,r", [x], dtype=tl.int32, is_pure=True, pack=1
    )
    tl.store(x_ptr + tl.arange(0, BLOCK), y)


def test_inline_assembly_is_refused_with_kernel_and_line() -> None:
    with pytest.raises(Exception, match=r"(?s)assembly_kernel.*test_printing\.py:\d+"):
        assembly_kernel[(1,)](torch.zeros(32, dtype=torch.int32), 32)
