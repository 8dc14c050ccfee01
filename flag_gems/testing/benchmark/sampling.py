# SPDX-License-Identifier: Apache-2.0
"""How many samples are taken, in which order, and what is said of them.

Baseline and candidate are sampled in one process, in alternating blocks: frequency, temperature and
caches drift while a case is measured, and measuring one side after the other was seen to move the
ratio by a quarter. Medians, because the noise of a shared machine only ever adds time.
"""

from __future__ import annotations

import gc
import math
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from flag_gems.testing.benchmark.inputs import Inputs
from flag_gems.testing.benchmark.timers import Call, Timer

Clock = Callable[[], float]

SAMPLE_MS = 0.02
"""A sample lasts at least this long: the clock and the loop cost some 0.1 us, 0.5% of it."""
MIN_SAMPLES = 5
"""The fewest values whose quartiles mean anything."""
MAX_SAMPLES = 1000
BLOCKS = 10
"""Blocks of each side: enough for drift to fall on both, few enough for each to run undisturbed."""
MAX_BATCH = 4096
MAX_CLONE_BYTES = 256 << 20
NOISY = 0.10
"""Relative spread beyond which a warning says that the latency is uncertain."""


@dataclass
class Side:
    """One of the things that are compared."""

    operator: Callable[..., Any]
    inputs: Inputs
    values: list[float] = field(default_factory=list)
    """Samples so far, milliseconds a call."""
    blocks: list[float] = field(default_factory=list)
    """Median of each block of samples. Samples of a block follow each other's errors; blocks, with
    the other side in between, hardly do, so that statistics may count them."""
    batch: int = 1
    """Calls a sample."""
    wanted: int = MIN_SAMPLES
    """Samples to take."""
    _shared: Call | None = None

    def calls(self, fresh: bool) -> list[Call]:
        """The calls of one sample; with `fresh`, each on operands as they were at first."""
        if fresh and self.inputs.writes:
            return [self.inputs.call(self.operator) for _ in range(self.batch)]
        if self._shared is None:
            self._shared = self.inputs.call(self.operator)
        return [self._shared] * self.batch

    def take(self, timer: Timer, count: int) -> list[float]:
        """Take samples, with clones made between them and not while the clock runs."""
        if timer.resets and self.inputs.writes:
            return [timer.samples([self.calls(fresh=True)])[0] for _ in range(count)]
        return timer.samples([self.calls(fresh=False) for _ in range(count)])

    def prepare(self, timer: Timer, warmup_ms: float, iter_ms: float, now: Clock) -> None:
        """Warm up, then settle how many calls make a sample and how many samples there will be.

        Both budgets are of elapsed time: flushing a cache or cloning can outlast a short call.
        """
        self.take(timer, 1)  # compiles and tunes
        estimates: list[float] = []
        start = now()
        while len(estimates) < 3 or (now() - start) * 1e3 < warmup_ms:
            estimates += self.take(timer, 1)
        elapsed = (now() - start) * 1e3 / len(estimates)
        # The least: an early outlier must not make the samples too few and too short.
        estimate = max(min(estimates), 1e-6)
        if timer.batches:
            self.batch = min(math.ceil(SAMPLE_MS / estimate), MAX_BATCH)
            if clone := self.inputs.bytes_to_clone:
                self.batch = max(1, min(self.batch, MAX_CLONE_BYTES // clone))
        samples = iter_ms / max(elapsed, estimate * self.batch)
        self.wanted = max(MIN_SAMPLES, min(math.ceil(samples), MAX_SAMPLES))


def sample(
    sides: list[Side],
    timer: Timer,
    warmup_ms: float,
    iter_ms: float,
    now: Clock = time.perf_counter,
) -> None:
    """Fill the sides' values, in blocks whose order turns round from one to the next.

    Args:
        sides: what is compared, in the order of the first block.
        timer: takes the samples.
        warmup_ms, iter_ms: time to spend on each side.
        now: tells elapsed seconds, for the two budgets.
    """
    for side in sides:
        side.prepare(timer, warmup_ms, iter_ms, now)
    blocks = min(BLOCKS, *(side.wanted for side in sides))
    collecting = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        for block in range(blocks):
            for side in sides if block % 2 == 0 else sides[::-1]:
                values = side.take(timer, math.ceil(side.wanted / blocks))
                side.values += values
                side.blocks.append(statistics.median(values))
    finally:
        if collecting:
            gc.enable()


@dataclass(frozen=True)
class Summary:
    """What is reported of a side's samples."""

    median_ms: float
    spread: float
    """Interquartile range over median."""
    samples: int
    calls_per_sample: int

    def warnings(self, name: str) -> list[str]:
        """What a reader should know before trusting the median."""
        found = []
        if self.samples < 2 * MIN_SAMPLES:
            found.append(f"{name}: only {self.samples} samples; a longer --iter takes more")
        if self.spread > NOISY:
            found.append(f"{name}: noisy, interquartile range {self.spread:.0%} of the median")
        return found


def summarize(side: Side) -> Summary:
    """Median and spread of a side's samples.

    Raises:
        ArithmeticError: the clock gave no finite positive median.
    """
    median = statistics.median(side.values)
    if not (math.isfinite(median) and median > 0):
        raise ArithmeticError(f"the median of {len(side.values)} samples is {median} ms")
    low, _, high = statistics.quantiles(side.values, n=4, method="inclusive")
    return Summary(median, (high - low) / median, len(side.values), side.batch)
