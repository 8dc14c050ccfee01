# SPDX-License-Identifier: Apache-2.0
"""Which of a backend's profilers the harness can drive."""

from __future__ import annotations

from bench_runner.backends import Backend, Profiler
from bench_runner.executors.interface import ExecutorError

DRIVEN = frozenset({"torch"})
"""Names in backends.yaml that ``bench_runner.harness.profile`` knows how to run."""


def usable_profiler(backend: Backend) -> Profiler:
    """The most preferred profiler that the harness can drive.

    Raises:
        ExecutorError: the backend lists none.
    """
    for profiler in backend.profile.profilers:
        if profiler.name in DRIVEN:
            return profiler
    wanted = ", ".join(profiler.name for profiler in backend.profile.profilers)
    raise ExecutorError(f"backend {backend.name}: none of its profilers can be driven ({wanted})")


def passed_over(backend: Backend) -> str:
    """Says which preferred profilers were not used; empty when the first one was."""
    used = usable_profiler(backend)
    better = backend.profile.profilers[: backend.profile.profilers.index(used)]
    if not better:
        return ""
    return f"profiled with {used.name}; not with {', '.join(p.name for p in better)}"
