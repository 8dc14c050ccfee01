# SPDX-License-Identifier: Apache-2.0
"""Numbers drawn from the exponential distribution.

Uniform numbers come from Philox (Salmon and others, "Parallel random numbers: as easy as 1, 2, 3",
2011), keyed by the generator, so that each element's number depends on seed and position alone.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from flag_gems.runtime import device, dtypes, ledger, native, torch_device_fn
from flag_gems.runtime.geometry import is_dense
from flag_gems.runtime.launcher import kernel
from flag_gems.runtime.pointwise import write_limit

_BLOCK = 1024 if device.name == "cpu" else 256


@triton.jit
def _draw(word, scale):
    # 23 bits and a half: never 0, whose logarithm is infinite, nor 1, whose logarithm is 0.
    uniform = ((word >> 9).to(tl.float32) + 0.5) * 1.1920928955078125e-07
    return -tl.log(uniform) * scale


@triton.jit
def _draw_wide(high, low, scale):
    # The same with 52 bits.
    word = (high.to(tl.uint64) << 20) | (low.to(tl.uint64) >> 12)
    uniform = (word.to(tl.float64) + 0.5) * 2.220446049250313e-16
    return -tl.log(uniform) * scale


@kernel(do_not_specialize=["seed", "offset", "scale_bits"])
def exponential_kernel(
    out, count, seed, offset, scale_bits, WIDE: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    """One call of Philox gives four words: four numbers, or two of float64."""
    lane = tl.arange(0, BLOCK)
    draws: tl.constexpr = 2 if WIDE else 4
    first = tl.program_id(0).to(tl.int64) * (BLOCK * draws)
    counter = tl.program_id(0).to(tl.int64) * BLOCK + lane
    scale = scale_bits.to(tl.int64).to(tl.float64, bitcast=True)
    low = (counter & 0xFFFFFFFF).to(tl.uint32)
    high = (counter >> 32).to(tl.uint32)
    start = offset.to(tl.int64)
    zero = tl.zeros((BLOCK,), tl.uint32)
    w0, w1, w2, w3 = tl.philox(
        seed.to(tl.int64),
        low,
        high,
        zero + (start & 0xFFFFFFFF).to(tl.uint32),
        zero + (start >> 32).to(tl.uint32),
    )
    place = out + first + lane
    left = count - first
    if WIDE:
        tl.store(place, _draw_wide(w0, w1, scale), mask=lane < left)
        tl.store(place + BLOCK, _draw_wide(w2, w3, scale), mask=lane + BLOCK < left)
    else:
        narrow = scale.to(tl.float32)
        tl.store(place, _draw(w0, narrow), mask=lane < left)
        tl.store(place + BLOCK, _draw(w1, narrow), mask=lane + BLOCK < left)
        tl.store(place + 2 * BLOCK, _draw(w2, narrow), mask=lane + 2 * BLOCK < left)
        tl.store(place + 3 * BLOCK, _draw(w3, narrow), mask=lane + 3 * BLOCK < left)


def _seed(generator: torch.Generator | None, place: torch.device) -> tuple[int, int]:
    """A key and a counter that no draw before has used; moves the generator on.

    A GPU's generator is a Philox generator, whose counter is moved by what one thread draws. The
    CPU's is of another kind, and gives a key.
    """
    if place.type == "cpu":
        return int(torch.randint(0, 1 << 62, (), generator=generator)), 0
    if generator is None:
        generator = torch_device_fn.default_generators[place.index]
    seed, offset = generator.initial_seed(), generator.get_offset()
    generator.set_offset(offset + 4)
    return seed - (1 << 64) if seed >> 63 else seed, offset


def _limit(input: torch.Tensor, lambd: float, generator: torch.Generator | None) -> str | None:
    if not dtypes.is_floating(input.dtype):
        return f"dtype {input.dtype}"
    if not lambd > 0 or lambd == float("inf"):
        return "lambd"
    if generator is not None and generator.device.type != input.device.type:
        return "generator of another device"
    reason = write_limit(input, [], input.dtype, True)
    if reason is None and device.name != "cpu":
        if not hasattr(torch.Generator, "get_offset"):
            return "generator without an offset"
        capturing = getattr(torch_device_fn, "is_current_stream_capturing", bool)
        if capturing():
            # Only torch can tell the graph to move the generator on at each replay.
            return "graph capture"
    return reason


def exponential_(
    input: torch.Tensor, lambd: float = 1.0, *, generator: torch.Generator | None = None
) -> torch.Tensor:
    """Fills ``input`` with numbers of density ``lambd * exp(-lambd * x)``; returns ``input``.

    Args:
        input: floating, any strides under which no two elements share memory.
        lambd: above 0; the mean is its reciprocal.
        generator: of the device of ``input``; by default the device's own. The numbers are others
            than torch's for the same seed, and the same at each run.

    Raises:
        RuntimeError: whatever torch raises for another dtype, ``lambd`` or generator.
    """
    reason = _limit(input, lambd, generator)
    if reason is not None:
        return native.call("exponential_", reason, input, lambd, generator=generator)
    ledger.record("exponential_", "gems")
    count = input.numel()
    if not count:
        return input
    out = input if is_dense(input) else torch.empty_like(input)
    seed, offset = _seed(generator, input.device)
    wide = input.dtype is torch.float64
    exponential_kernel[(triton.cdiv(count, _BLOCK * (2 if wide else 4)),)](
        out, count, seed, offset, dtypes.float64_bits(1.0 / lambd), WIDE=wide, BLOCK=_BLOCK,
        num_warps=4,
    )  # fmt: skip
    if out is not input:
        input.copy_(out)
    return input
