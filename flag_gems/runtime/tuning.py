# SPDX-License-Identifier: Apache-2.0
"""Measures the configurations of one problem and says which is best.

Every candidate is run once and its result held against torch's; what fails or is wrong is out.
Then all are timed briefly, and the best few again, in turn, so that a change of the device's clock
meets each of them; the median of a round is the measure, and the least of its rounds counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
import triton

from flag_gems.runtime import device, torch_device_fn
from flag_gems.runtime.tuned import Config

_FINALISTS = 4
_ROUNDS = 3
_BRIEF_MS, _LONG_MS = 8, 25


class Problem(Protocol):
    """One problem with its inputs made."""

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys of the tuned file that its best configuration is kept under."""

    @property
    def candidates(self) -> Sequence[Config]:
        """What may be tried."""

    def run(self, config: Config) -> torch.Tensor:
        """The result by one configuration."""

    def native(self) -> torch.Tensor:
        """torch's own result."""

    def is_right(self, result: torch.Tensor) -> bool:
        """Whether a configuration computed what it should."""


@dataclass(frozen=True)
class Family:
    """Kernels that are tuned together."""

    name: str
    """Of the family in tuned files."""
    cases: tuple[str, ...]
    """What the shipped files hold, each as ``prepare`` takes it."""
    prepare: Callable[[str], Problem]


@dataclass(frozen=True)
class Finding:
    """What was found for one problem."""

    case: str
    keys: tuple[str, ...]
    native_ms: float
    timings: tuple[tuple[float, Config], ...]
    """Milliseconds of each configuration that works, the best first."""
    failures: tuple[tuple[Config, str], ...]

    @property
    def best(self) -> Config:
        return self.timings[0][1]

    @property
    def speedup(self) -> float:
        """Of the best configuration over torch."""
        return self.native_ms / self.timings[0][0]


def attempt(problem: Problem, config: Config) -> str | None:
    """Runs a configuration once; why it is out, or None. Compiles it, too."""
    try:
        right = problem.is_right(problem.run(config))
        torch_device_fn.synchronize()
    except Exception as error:
        # Whatever a compiler or a device makes of an unusual configuration, the others may work.
        return f"{type(error).__name__}: {' '.join(str(error).split())[:160]}"
    return None if right else "wrong result"


def measure(case: str, problem: Problem) -> Finding:
    """Times all candidates of a problem.

    Raises:
        RuntimeError: no candidate works.
    """
    failures: list[tuple[Config, str]] = []
    working: list[Config] = []
    for config in problem.candidates:
        reason = attempt(problem, config)
        if reason is None:
            working.append(config)
        else:
            failures.append((config, reason))
    if not working:
        raise RuntimeError(f"{case}: no configuration works; the first says {failures[0][1]}")
    brief = sorted(
        ((_milliseconds(_call(problem, config), _BRIEF_MS), config) for config in working),
        key=lambda pair: pair[0],
    )
    finalists = [config for _, config in brief[:_FINALISTS]]
    best: list[float] = [float("inf")] * len(finalists)
    native = float("inf")
    for _ in range(_ROUNDS):
        native = min(native, _milliseconds(problem.native, _LONG_MS))
        for index, config in enumerate(finalists):
            best[index] = min(best[index], _milliseconds(_call(problem, config), _LONG_MS))
    ranked = sorted(zip(best, finalists, strict=True), key=lambda pair: pair[0])
    return Finding(case, problem.keys, native, (*ranked, *brief[_FINALISTS:]), tuple(failures))


def _call(problem: Problem, config: Config) -> Callable[[], Any]:
    return lambda: problem.run(config)


def _milliseconds(call: Callable[[], Any], budget_ms: float) -> float:
    """Median of a call; on an accelerator the device's time with its cache flushed before."""
    if device.name != "cpu":
        return float(
            triton.testing.do_bench(call, warmup=2, rep=int(budget_ms), return_mode="median")
        )
    times: list[float] = []
    stop = time.perf_counter() + budget_ms / 1e3
    while len(times) < 5 or time.perf_counter() < stop:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return sorted(times)[len(times) // 2] * 1e3
