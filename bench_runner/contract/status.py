# SPDX-License-Identifier: Apache-2.0
"""The words for how a job ends, and the exit codes that follow from them."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum, IntEnum


class Mode(str, Enum):
    """What a job does with its candidate."""

    PREFLIGHT = "preflight"
    CORRECTNESS = "correctness"
    BENCHMARK = "benchmark"
    PROFILE = "profile"
    REFERENCE = "reference"

    @property
    def needs_candidate(self) -> bool:
        return self is not Mode.REFERENCE

    @property
    def owns_the_machine(self) -> bool:
        """Whether other jobs on the same device would change what this mode measures."""
        return self in (Mode.BENCHMARK, Mode.PROFILE)


class Status(str, Enum):
    """How a job ended. Only the judge writes one."""

    PASSED = "PASSED"
    FAILED = "FAILED"
    ALL_SKIP = "ALL_SKIP"
    UNSUPPORTED = "UNSUPPORTED"
    TIMEOUT = "TIMEOUT"
    OOM = "OOM"
    CRASHED = "CRASHED"
    REJECTED = "REJECTED"
    INFRA_ERROR = "INFRA_ERROR"
    CANCELLED = "CANCELLED"

    @property
    def is_final(self) -> bool:
        """Whether a resumed run may take this verdict as it is."""
        return self not in (Status.INFRA_ERROR, Status.CANCELLED)

    @property
    def is_good(self) -> bool:
        return self in (Status.PASSED, Status.ALL_SKIP, Status.UNSUPPORTED)


class ExitCode(IntEnum):
    """Exit codes of ``bench-runner run``, so that a script can tell whose fault it is."""

    OK = 0
    CANDIDATE = 1
    USAGE = 2
    INFRASTRUCTURE = 3


def exit_code(statuses: Iterable[Status]) -> ExitCode:
    """Infrastructure outranks candidates: with a job unjudged, no statement about all of them."""
    seen = set(statuses)
    if Status.INFRA_ERROR in seen:
        return ExitCode.INFRASTRUCTURE
    if any(not status.is_good for status in seen):
        return ExitCode.CANDIDATE
    return ExitCode.OK
