# SPDX-License-Identifier: Apache-2.0
"""A job and what identifies it: two jobs with one key would measure the same thing."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import Field, PositiveFloat, PositiveInt, model_validator

from bench_runner.contract.record import Record, canonical_sha256
from bench_runner.contract.status import Mode

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Level = Literal["core", "comprehensive"]
Name = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]


class Candidate(Record):
    """One implementation of one operator."""

    path: str
    """The file, absolute, as it was when the run was planned."""
    function: Name
    sha256: Sha256
    """Of the file's content."""

    @property
    def label(self) -> str:
        name = self.path.rsplit("/", 1)[-1]
        stem = name.removesuffix(".py")
        return stem if self.function == stem else f"{stem}:{self.function}"


class Settings(Record):
    """What may differ between two runs of one candidate and changes what is measured."""

    level: Level = "core"
    timeout_s: PositiveFloat = 300.0
    """Wall-clock seconds from the start of the process; the job is killed after it."""
    memory_bytes: Annotated[int, Field(ge=64 << 20)] = 8 << 30
    processes: PositiveInt = 512
    """Processes and threads at once (enforced where the executor can)."""
    output_bytes: PositiveInt = 256 << 20
    """What the job may leave in its artifact folder."""
    warmup_ms: PositiveInt = 20
    iter_ms: PositiveInt = 100
    profile_case: str | None = None
    """The case that profile mode replays; None takes the first one of the level."""
    profile_warmup: PositiveInt = 10
    profile_iterations: PositiveInt = 1


class Environment(Record):
    """Where jobs run. It is part of every job's key: results of two environments do not mix."""

    backend: str
    vendor: str
    executor: Literal["docker", "local"]
    image: str | None = None
    """Tag of the image; None outside containers."""
    image_id: str | None = None
    suite: Sha256
    """Fingerprint of operators, tests and harness that judge the candidate."""
    device: str
    versions: dict[str, str] = Field(default_factory=dict)
    """Python, torch, triton, as the packages' metadata tells."""

    @model_validator(mode="after")
    def _image_belongs_to_docker(self) -> Environment:
        if (self.executor == "docker") != (self.image_id is not None):
            raise ValueError("an image id is given for the docker executor, and only for it")
        return self


class Job(Record):
    """One candidate in one mode on one backend."""

    op: Name
    mode: Mode
    candidate: Candidate | None = None
    override: Name | None = None
    """The attribute of flag_gems that the candidate replaces; the operator unless stated."""
    settings: Settings
    environment: Environment

    @model_validator(mode="after")
    def _candidate_fits_mode(self) -> Job:
        if self.mode.needs_candidate and (self.candidate is None or self.override is None):
            raise ValueError(f"{self.mode.value} needs a candidate and an override")
        if not self.mode.needs_candidate and (self.candidate or self.override):
            raise ValueError(f"{self.mode.value} runs the baseline alone, without a candidate")
        return self

    @property
    def key(self) -> str:
        """Hash of everything that decides the result: content, not names or times."""
        identity = self.model_dump(mode="json")
        if self.candidate is not None:
            identity["candidate"] = [self.candidate.sha256, self.candidate.function]
        return canonical_sha256(identity)

    @property
    def id(self) -> str:
        """Folder name: readable, and different for jobs that differ in anything."""
        who = self.candidate.label.replace(":", "-") if self.candidate else "baseline"
        # What Docker takes in a container's name.
        readable = re.sub(r"[^A-Za-z0-9_.-]", "_", who)[:48]
        return f"{self.op}-{readable}-{self.mode.value}-{self.key[:12]}"
