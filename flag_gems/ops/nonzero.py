# SPDX-License-Identifier: Apache-2.0
"""The places of the elements that are not zero, in the order of the shape.

Two walks over the input, counting and writing. Between them the host learns how many there are, as
the result's shape demands; ``nonzero_static`` is told, and nobody waits.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from flag_gems.ops.sort import SERIAL
from flag_gems.runtime import ledger, native, pointwise
from flag_gems.runtime.launcher import kernel
from flag_gems.runtime.memory import resize_out
from flag_gems.runtime.ordering import numbers
from flag_gems.runtime.scan import exclusive
from flag_gems.runtime.tiling import warps

_TILE = 4096
_CHUNK = 1 << 16
"""Elements of a program on a CPU."""
_MOST_DIMS = 5
"""Dimensions whose coordinates the kernel writes; of more they are taken from flat places."""


@kernel
def count_kernel(x, counts, n, CHUNK: tl.constexpr, BLOCK: tl.constexpr):
    """How many elements of a chunk are not zero."""
    begin = tl.program_id(0).to(tl.int64) * CHUNK
    found = tl.zeros((BLOCK,), tl.int32)
    for start in range(0, CHUNK, BLOCK):
        i = begin + start + tl.arange(0, BLOCK)
        found += (tl.load(x + i, mask=i < n, other=0) != 0).to(tl.int32)
    tl.store(counts + tl.program_id(0), tl.sum(found, 0))


@triton.jit
def _write(out, to, most, place, mask, s1, s2, s3, s4, DIMS: tl.constexpr):
    """The coordinates of flat places, a column of ``most`` for each dimension; s1 to s4 are the
    sizes of the dimensions behind the first."""
    row = out + to
    for back in tl.static_range(DIMS - 1):
        if DIMS - 1 - back == 1:
            size = s1
        elif DIMS - 1 - back == 2:
            size = s2
        elif DIMS - 1 - back == 3:
            size = s3
        else:
            size = s4
        tl.store(row + most * (DIMS - 1 - back), place % size, mask=mask)
        place = place // size
    tl.store(row, place, mask=mask)


@kernel
def write_kernel(
    x, offsets, out, n, most, s1, s2, s3, s4,
    DIMS: tl.constexpr, CHUNK: tl.constexpr, BLOCK: tl.constexpr, SERIAL: tl.constexpr,
):  # fmt: skip
    """Writes the first ``most`` places; SERIAL: an element at a time, as a processor likes it."""
    begin = tl.program_id(0).to(tl.int64) * CHUNK
    to = tl.load(offsets + tl.program_id(0)).to(tl.int64)
    if SERIAL:
        for i in range(begin, tl.minimum(begin + CHUNK, n)):
            if tl.load(x + i) != 0:
                _write(out, to, most, i, to < most, s1, s2, s3, s4, DIMS)
                to += 1
    else:
        for start in range(0, CHUNK, BLOCK):
            i = begin + start + tl.arange(0, BLOCK)
            found = tl.load(x + i, mask=i < n, other=0) != 0
            number = found.to(tl.int32)
            at = to + tl.cumsum(number, 0) - 1
            _write(out, at, most, i, found & (at < most), s1, s2, s3, s4, DIMS)
            to += tl.sum(number, 0)


class _Places:
    """The elements that are not zero, counted by chunk but not yet written."""

    def __init__(self, input: torch.Tensor) -> None:
        self.shape = input.shape
        self.flat = numbers(input.contiguous()).view(-1)
        n = self.flat.numel()
        self.chunk = _CHUNK if SERIAL else _TILE
        self.block = 1024 if SERIAL else _TILE
        self.grid = (triton.cdiv(n, self.chunk),)
        counts = torch.empty((1, *self.grid), dtype=torch.int32, device=input.device)
        count_kernel[self.grid](
            self.flat, counts, n, CHUNK=self.chunk, BLOCK=self.block, num_warps=warps(self.block)
        )
        self.offsets, self.total = exclusive(counts, torch.int64)

    def write(self, out: torch.Tensor) -> None:
        """Fills ``out`` [N, rank], whose columns are contiguous, as far as there are places."""
        rank = len(self.shape)
        if not rank or not out.numel():
            return
        dims = rank if rank <= _MOST_DIMS else 1
        places = out if dims == rank else out.new_full((len(out),), -1)
        sizes = [*self.shape[1:dims], 1, 1, 1, 1][:4]
        write_kernel[self.grid](
            self.flat, self.offsets, places, self.flat.numel(), len(out), *sizes,
            DIMS=dims, CHUNK=self.chunk, BLOCK=self.block, SERIAL=SERIAL,
            num_warps=warps(self.block),
        )  # fmt: skip
        if dims != rank:
            found = torch.unravel_index(places.clamp(min=0), self.shape)
            for column, coordinate in zip(out.unbind(1), found, strict=True):
                column.copy_(torch.where(places >= 0, coordinate, column))


def _nonzero(input: torch.Tensor) -> torch.Tensor:
    if not input.numel():
        return torch.empty((0, input.dim()), dtype=torch.int64, device=input.device)
    places = _Places(input)
    columns = (input.dim(), int(places.total.item()))
    out = torch.empty(columns, dtype=torch.int64, device=input.device).t()
    places.write(out)
    return out


def nonzero(
    input: torch.Tensor, *, as_tuple: bool = False, out: torch.Tensor | None = None
) -> torch.Tensor | tuple[torch.Tensor, ...]:
    """The coordinates of the elements that are not zero.

    Args:
        input: real, any shape and strides; other dtypes go to torch. A NaN is not zero.
        as_tuple: one vector a dimension instead of a matrix; a number counts as a vector.
        out: where the matrix goes, resized where its shape differs.

    Returns:
        int64 [N, rank], in the order of the shape; a column is contiguous, as torch has it.

    Raises:
        RuntimeError: whatever torch raises for an ``out`` that does not fit.
    """
    if as_tuple:
        found = nonzero(input if input.dim() else input.reshape(1))
        assert isinstance(found, torch.Tensor)
        return found.unbind(1)
    if out is not None:
        return nonzero_out(input, out=out)
    reason = pointwise.limit(input)
    if reason is not None:
        result: torch.Tensor = native.call("nonzero", reason, input)
        return result
    ledger.record("nonzero", "gems")
    return _nonzero(input)


def nonzero_out(input: torch.Tensor, *, out: torch.Tensor) -> torch.Tensor:
    """:func:`nonzero` into ``out``, resized where its shape differs."""
    reason = pointwise.limit(input)
    if reason is None:
        reason = "out of another kind" if out.dtype is not torch.int64 else None
        reason = reason or pointwise.write_limit(out, [], out.dtype, False)
    if reason is not None:
        native.call("nonzero.out", reason, input, out=out)
        return out
    ledger.record("nonzero.out", "gems")
    result = _nonzero(input)
    return resize_out(out, result.shape).copy_(result)


def nonzero_static(input: torch.Tensor, *, size: int, fill_value: int = -1) -> torch.Tensor:
    """The first ``size`` coordinates; rows that are left over hold ``fill_value``.

    The host waits for nothing: fit for graphs.

    Raises:
        RuntimeError: whatever torch raises for a negative size.
    """
    reason = pointwise.limit(input) or ("negative size" if size < 0 else None)
    if reason is not None:
        result: torch.Tensor = native.call(
            "nonzero_static", reason, input, size=size, fill_value=fill_value
        )
        return result
    ledger.record("nonzero_static", "gems")
    columns = torch.full((input.dim(), size), fill_value, dtype=torch.int64, device=input.device)
    if input.numel():
        _Places(input).write(columns.t())
    return columns.t().contiguous()
