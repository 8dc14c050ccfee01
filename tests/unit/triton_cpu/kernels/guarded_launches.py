# SPDX-License-Identifier: Apache-2.0
"""Launches on tensors beside unmapped pages; prints each case's name and ``right`` or ``wrong``."""

from __future__ import annotations

from collections.abc import Callable

import torch
import triton
import triton.language as tl

from tests.unit.triton_cpu.kernels.tensors import GuardedMemory, values


@triton.jit
def copy_kernel(x_ptr, out_ptr, first, n, BLOCK: tl.constexpr):
    index = tl.arange(0, BLOCK) - first
    mask = (index >= 0) & (index < n)
    tl.store(out_ptr + index, tl.load(x_ptr + index, mask=mask, other=0) + 1, mask=mask)


@triton.jit
def tile_kernel(x_ptr, out_ptr, m, n, M: tl.constexpr, N: tl.constexpr):
    rows = tl.arange(0, M)[:, None]
    cols = tl.arange(0, N)[None, :]
    mask = (rows < m) & (cols < n)
    x = tl.load(x_ptr + rows + cols * m, mask=mask, other=0)
    tl.store(out_ptr + rows * n + cols, x + 1, mask=mask)


@triton.jit
def gather_kernel(x_ptr, index_ptr, out_ptr, n, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    inside = lane < n
    index = tl.load(index_ptr + lane, mask=inside, other=1 << 40)
    x = tl.load(x_ptr + index, mask=inside & (index < n), other=0)
    tl.store(out_ptr + index, x + 1, mask=inside & (index < n))


@triton.jit
def scalar_kernel(x_ptr, out_ptr, n):
    program = tl.program_id(0)
    x = tl.load(x_ptr + program, mask=program < n, other=0)
    tl.store(out_ptr + program, x + 1, mask=program < n)


@triton.jit
def reduce_kernel(x_ptr, out_ptr, m, n, M: tl.constexpr, N: tl.constexpr):
    rows = tl.arange(0, M)
    cols = tl.arange(0, N)
    mask = (rows < m)[:, None] & (cols < n)[None, :]
    x = tl.load(x_ptr + rows[:, None] * n + cols[None, :], mask=mask, other=0)
    tl.store(out_ptr + rows, tl.sum(x, axis=1), mask=rows < m)


@triton.jit
def atomic_kernel(out_ptr, n, BLOCK: tl.constexpr):
    index = tl.arange(0, BLOCK)
    tl.atomic_add(out_ptr + index, 1.0, mask=index < n)


@triton.jit
def descriptor_kernel(x_ptr, out_ptr, m, n, M: tl.constexpr, N: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [m, n], [n, 1], [M, N])
    out = tl.make_tensor_descriptor(out_ptr, [m, n], [n, 1], [M, N])
    row, column = tl.program_id(0) * M - 3, tl.program_id(1) * N - 5
    out.store([row, column], x.load([row, column]) + 1)


@triton.jit
def block_pointer_kernel(x_ptr, out_ptr, m, n, steps, M: tl.constexpr, N: tl.constexpr):
    row = tl.program_id(0) * M - 3
    x = tl.make_block_ptr(x_ptr, (m, n), (n, 1), (row, -5), (M, N), (1, 0))
    out = tl.make_block_ptr(out_ptr, (m, n), (n, 1), (row, -5), (M, N), (1, 0))
    for _ in range(steps):
        value = tl.load(x, boundary_check=(0, 1), padding_option="zero")
        tl.store(out, value + 1, boundary_check=(0, 1))
        x = tl.advance(x, (0, N))
        out = tl.advance(out, (0, N))


@triton.jit
def lookup_kernel(x_ptr, index_ptr, out_ptr, n, rows, M: tl.constexpr, N: tl.constexpr):
    row = tl.program_id(0) * M + tl.arange(0, M)
    index = tl.load(index_ptr + row, mask=row < rows, other=-1)
    column = tl.arange(0, N)
    mask = (index >= 0)[:, None] & (column < n)[None, :]
    x = tl.load(x_ptr + index[:, None] * n + column[None, :], mask=mask, other=0)
    tl.store(out_ptr + row[:, None] * n + column[None, :], x + 1, mask=mask)


def tail(memory: GuardedMemory, target: GuardedMemory) -> bool:
    for dtype in (torch.int8, torch.bfloat16, torch.float32, torch.float64):
        for n in (1, 7, 33, 64):
            x = memory.at_end(values(dtype, n, n))
            out = target.at_end(torch.zeros(n, dtype=dtype))
            copy_kernel[(1,)](x, out, 0, n, 64)
            if not torch.equal(out, x + 1):
                return False
    return True


def head(memory: GuardedMemory, target: GuardedMemory) -> bool:
    x, out = memory.at_start(values(torch.float32, 20, 1)), target.at_start(torch.zeros(20))
    copy_kernel[(1,)](x, out, 44, 20, 64)
    return torch.equal(out, x + 1)


def tile(memory: GuardedMemory, target: GuardedMemory) -> bool:
    x, out = memory.at_end(values(torch.float32, (5, 3), 1)), target.at_end(torch.zeros(3, 5))
    tile_kernel[(1,)](x, out, 3, 5, 16, 32)
    return torch.equal(out, x.T + 1)


def gather(memory: GuardedMemory, target: GuardedMemory) -> bool:
    x, out = memory.at_end(values(torch.float32, 40, 1)), target.at_end(torch.zeros(40))
    index = torch.randperm(40)
    index[::3] += 1 << 40
    gather_kernel[(1,)](x, index, out, 40, 64)
    touched = torch.zeros(40, dtype=torch.bool)
    touched[index[index < 40]] = True
    return torch.equal(out, torch.where(touched, x + 1, 0))


def scalar(memory: GuardedMemory, target: GuardedMemory) -> bool:
    x, out = memory.at_end(values(torch.float32, 1000, 1)), target.at_end(torch.zeros(1000))
    scalar_kernel[(3000,)](x, out, 1000)
    return torch.equal(out, x + 1)


def reduce(memory: GuardedMemory, target: GuardedMemory) -> bool:
    x = memory.at_end(values(torch.int32, (3, 21), 1) % 1000)
    out = target.at_end(torch.zeros(3, dtype=torch.int32))
    reduce_kernel[(1,)](x, out, 3, 21, 8, 32)
    return torch.equal(out, x.sum(1).to(torch.int32))


def atomic(memory: GuardedMemory, target: GuardedMemory) -> bool:
    out = target.at_end(torch.zeros(17))
    atomic_kernel[(5,)](out, 17, 64)
    return torch.equal(out, torch.full((17,), 5.0))


def descriptor(memory: GuardedMemory, target: GuardedMemory) -> bool:
    """Blocks that begin before the matrix and end after it, at both ends of the memory."""
    for shape in ((9, 20), (1, 4), (17, 36)):
        for place in ("at_start", "at_end"):
            x = getattr(memory, place)(values(torch.float32, shape, 1))
            out = getattr(target, place)(torch.zeros(shape))
            grid = (triton.cdiv(shape[0] + 3, 8), triton.cdiv(shape[1] + 5, 16))
            descriptor_kernel[grid](x, out, *shape, 8, 16)
            if not torch.equal(out, x + 1):
                return False
    return True


def block_pointer(memory: GuardedMemory, target: GuardedMemory) -> bool:
    """As ``descriptor``, by pointers that a loop moves from before a row to after it."""
    for shape in ((9, 20), (1, 4), (17, 36)):
        for place in ("at_start", "at_end"):
            x = getattr(memory, place)(values(torch.float32, shape, 1))
            out = getattr(target, place)(torch.zeros(shape))
            steps = triton.cdiv(shape[1] + 5, 16)
            block_pointer_kernel[(triton.cdiv(shape[0] + 3, 8),)](x, out, *shape, steps, 8, 16)
            if not torch.equal(out, x + 1):
                return False
    return True


def lookup(memory: GuardedMemory, target: GuardedMemory) -> bool:
    """Rows of a table by an index that is itself the last thing before an unmapped page."""
    table, indices = memory.at_end(values(torch.float32, (30, 13), 1)), GuardedMemory(1 << 12)
    index = indices.at_end(torch.tensor([29, 0, -1, 29, 7, -1, 12, 29, 29, 3, 28]))
    out = target.at_end(torch.zeros(11, 13))
    lookup_kernel[(2,)](table, index, out, 13, 11, 8, 16)
    expected = torch.where((index >= 0)[:, None], table[index] + 1, 0)
    return torch.equal(out, expected)


def nothing(memory: GuardedMemory, target: GuardedMemory) -> bool:
    # Every lane masked off: even the base address is unmapped.
    x, out = memory.at_end(torch.zeros(1)), target.at_end(torch.zeros(1))
    copy_kernel[(1,)](x[1:], out[1:], 0, 0, 64)
    return out.item() == 0


# Each takes a place for an input and one for an output, and tells whether the result is right.
CASES: dict[str, Callable[[GuardedMemory, GuardedMemory], bool]] = {
    case.__name__: case
    for case in (
        tail,
        head,
        tile,
        gather,
        scalar,
        reduce,
        atomic,
        descriptor,
        lookup,
        nothing,
    )
}
if tuple(map(int, triton.__version__.split(".")[:2])) < (3, 9):  # Gone since.
    CASES["block_pointer"] = block_pointer


if __name__ == "__main__":
    for name, case in CASES.items():
        outcome = case(GuardedMemory(1 << 16), GuardedMemory(1 << 16))
        print(name, "right" if outcome else "wrong", flush=True)
