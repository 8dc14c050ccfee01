# SPDX-License-Identifier: Apache-2.0
"""Which of a backend's profilers the harness can drive."""

from __future__ import annotations

from bench_runner.backends import Backend
from bench_runner.executors.interface import ExecutorError

TRACES_WITH = "torch"
"""The profiler behind ``bench_runner.harness.profile``, which every backend needs."""
COUNTERS = frozenset({"ncu"})
"""Profilers that ``bench_runner.harness.counters`` knows how to run."""


def driven(backend: Backend) -> list[str]:
    """Names of the profilers that profile mode uses on this backend.

    Raises:
        ExecutorError: torch's is not among them.
    """
    listed = [profiler.name for profiler in backend.profile.profilers]
    if TRACES_WITH not in listed:
        raise ExecutorError(
            f"backend {backend.name}: profile mode needs torch among its profilers, "
            f"not only {', '.join(listed)}"
        )
    return [name for name in listed if name == TRACES_WITH or name in COUNTERS]


def counters(backend: Backend) -> str | None:
    """The profiler that reads hardware counters, or None."""
    return next((name for name in driven(backend) if name in COUNTERS), None)


def passed_over(backend: Backend) -> str:
    """Says which preferred profilers are not used; empty when all are."""
    used = driven(backend)
    listed: list[str] = [profiler.name for profiler in backend.profile.profilers]
    better = [name for name in listed[: listed.index(TRACES_WITH)] if name not in used]
    if not better:
        return ""
    return f"profiled with {', '.join(used)}; not with {', '.join(better)}"
