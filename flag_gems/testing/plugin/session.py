# SPDX-License-Identifier: Apache-2.0
"""What a benchmark session was asked to do and what it has found so far.

`Benchmark.run()` takes no arguments, so it reads the session here. There is one a process: each
benchmark session is a process of its own.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pytest

ACTIVITIES: dict[str, str] = {
    "list": "--list-cases",
    "preflight": "--preflight-only",
    "profile": "--profile-only",
    "reference": "--reference-only",
    "query": "--query",
}
"""What a session can do instead of timing, and the option that asks for it; one at a time."""

DTYPES = (
    "float16",
    "float32",
    "float64",
    "bfloat16",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "bool",
    "complex64",
)
"""Names that --dtypes takes."""

METRICS = ("latency_base", "latency", "speedup")


@dataclass(frozen=True)
class Settings:
    """The benchmark options, validated."""

    activity: str
    """A key of ACTIVITIES, or "time"."""
    mode: str
    """What a latency is: kernel, operator, wrapper or cudagraph; see timers.py."""
    level: str
    """core or comprehensive."""
    warmup_ms: float
    iter_ms: float
    """Time to spend on warming up and on measuring each side of a case, milliseconds."""
    dtypes: tuple[str, ...] | None
    metrics: tuple[str, ...]
    shape_file: str | None
    case_ids: tuple[str, ...] | None
    profile_warmup: int
    profile_iterations: int


@dataclass
class BenchmarkSession:
    """Settings, the running test and the records of a session."""

    settings: Settings
    config: pytest.Config
    nodeid: str = ""
    """The running test, relative to the repository root."""
    skip_native: str | None = None
    """Why the running test has no baseline on this vendor; None where it has."""
    ordinals: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Cases enumerated so far, by test and dtype."""
    served: set[str] = field(default_factory=set)
    """Tests of which a benchmark enumerated its cases, or said that it cannot."""
    available: set[str] = field(default_factory=set)
    executed: set[str] = field(default_factory=set)
    """Case ids that exist, and that were run to their end (or skipped for a reason)."""
    listed: list[dict[str, Any]] = field(default_factory=list)
    preflight: list[dict[str, Any]] = field(default_factory=list)
    reference: list[dict[str, Any]] = field(default_factory=list)
    measured: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def registry(self) -> Any:
        """The session's DynamicOpOverride, or None."""
        from .shared import SESSION

        return self.config.stash[SESSION].registry

    def override_calls(self, op_name: str) -> int:
        """Calls so far of the operator's candidate from a file; 0 without one."""
        if self.registry is None:
            return 0
        return int(self.registry.call_counts().get(f"flag_gems.{op_name}", 0))


_current: list[BenchmarkSession] = []


def begin(session: BenchmarkSession) -> None:
    """Make the session the one that `current` answers."""
    _current[:] = [session]


def current() -> BenchmarkSession:
    """The session of this process.

    Raises:
        RuntimeError: no benchmark session has begun.
    """
    if not _current:
        raise RuntimeError("a benchmark runs under pytest: pytest benchmark/test_<op>.py")
    return _current[0]
