# SPDX-License-Identifier: Apache-2.0
"""Clocks: what one sample of each mode is.

kernel      the device's work: device events around one call, with the last-level cache flushed
            before each; on the CPU, whose calls end when their work does, the call itself.
operator    the host's clock from the call until the device is done.
wrapper     the host's clock around the call alone, what an asynchronous launch costs the host.
cudagraph   device events around the replay of a graph that holds the call. An operand that the
            operator writes to keeps its values from replay to replay.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import torch

import flag_gems

Call = Callable[[], Any]

# Twice the largest last-level cache of a GPU so far (MI300X has 256 MiB, H200 50 MiB).
FLUSH_BYTES = 512 << 20


class Timer(Protocol):
    """One way of taking samples."""

    batches: bool
    """Whether a sample may cover several calls, for calls that are short against the clock."""
    resets: bool
    """Whether operands that are written to can be put back before each call."""

    def samples(self, batches: Sequence[Sequence[Call]]) -> list[float]:
        """Milliseconds a call, one value for each batch of calls."""


class HostTimer:
    """The host's monotonic clock around a batch of calls."""

    batches = True
    resets = True

    def __init__(self, wait: bool) -> None:
        """`wait`: whether the time until the device is done belongs to the sample."""
        self._wait = wait
        self._synchronize = flag_gems.runtime.torch_device_fn.synchronize

    def samples(self, batches: Sequence[Sequence[Call]]) -> list[float]:
        """See Timer."""
        result = []
        for batch in batches:
            self._synchronize()
            start = time.perf_counter_ns()
            for call in batch:
                call()
            if self._wait:
                self._synchronize()
            elapsed = time.perf_counter_ns() - start
            result.append(elapsed / len(batch) / 1e6)
        self._synchronize()
        return result


class EventTimer:
    """Device events around each call; the host runs ahead while the cache is being flushed."""

    batches = False
    resets = True

    def __init__(self) -> None:
        self._device = flag_gems.runtime.torch_device_fn
        self._cache = torch.empty(FLUSH_BYTES, dtype=torch.int8, device=flag_gems.device)

    def samples(self, batches: Sequence[Sequence[Call]]) -> list[float]:
        """See Timer; each batch holds one call."""
        events = []
        for (call,) in batches:
            start = self._device.Event(enable_timing=True)
            stop = self._device.Event(enable_timing=True)
            self._cache.zero_()
            start.record()
            call()
            stop.record()
            events.append((start, stop))
        self._device.synchronize()
        return [start.elapsed_time(stop) for start, stop in events]


class GraphTimer(EventTimer):
    """Device events around the replay of each call's CUDA graph, captured once."""

    resets = False

    def __init__(self) -> None:
        super().__init__()
        self._graphs: dict[int, tuple[Call, Any]] = {}

    def samples(self, batches: Sequence[Sequence[Call]]) -> list[float]:
        """See Timer."""
        return super().samples([[self._replay(call)] for (call,) in batches])

    def _replay(self, call: Call) -> Call:
        # The call is kept beside its graph, so that its id is not given to another one.
        if id(call) not in self._graphs:
            cuda: Any = torch.cuda
            stream = cuda.Stream()
            stream.wait_stream(cuda.current_stream())
            with cuda.stream(stream):
                call()
            cuda.current_stream().wait_stream(stream)
            graph = cuda.CUDAGraph()
            with cuda.graph(graph):
                call()
            self._graphs[id(call)] = (call, graph)
        replay: Call = self._graphs[id(call)][1].replay
        return replay


def make_timer(mode: str) -> Timer:
    """The clock of a mode on this vendor's device."""
    if mode == "cudagraph":
        return GraphTimer()
    if mode == "kernel" and flag_gems.device != "cpu":
        return EventTimer()
    return HostTimer(wait=mode != "wrapper")
