# SPDX-License-Identifier: Apache-2.0
"""What is known of a job from outside its process: how it ended and what it left."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path


class Ending(str, Enum):
    """How a job's process ended."""

    EXITED = "exited"
    TIMEOUT = "timeout"
    OOM = "oom"
    OUTPUT_LIMIT = "output_limit"
    CANCELLED = "cancelled"
    INFRASTRUCTURE = "infrastructure"


@dataclass(frozen=True)
class Outcome:
    """What an executor saw. Times are seconds since the epoch."""

    ending: Ending
    submitted_at: float
    ended_at: float
    exit_code: int | None = None
    detail: str = ""
    privileges: tuple[str, ...] = ()
    foreign_cores: float | None = None
    """Cores that other processes kept busy meanwhile, on average; None where it is not known."""


@dataclass(frozen=True)
class Collected:
    """Artifacts that were kept, and what was left behind with the reason."""

    folder: Path
    names: tuple[str, ...]
    refused: tuple[str, ...]
