# SPDX-License-Identifier: Apache-2.0
"""From a matrix file or flags to jobs: candidate x mode on one backend."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, PositiveFloat, PositiveInt, ValidationError

from bench_runner.contract.job import Candidate, Environment, Job, Level, Settings
from bench_runner.contract.record import explain
from bench_runner.contract.status import Mode
from bench_runner.errors import UsageFault
from bench_runner.yaml_lines import line_of, read_yaml

DEFAULT_MODES = (Mode.PREFLIGHT, Mode.CORRECTNESS, Mode.BENCHMARK, Mode.PROFILE)
MOST_BYTES = 1 << 62
SIZES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


class PlanError(UsageFault, ValueError):
    """What was asked for cannot be planned; one line that says where and what to do."""


@dataclass(frozen=True)
class Entry:
    """One row of the matrix: a candidate of an operator, or (for references) the operator."""

    op: str
    candidate: Candidate | None = None
    override: str | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    """What this row sets differently."""
    where: str = ""
    """File and line of the row, to begin an error with; empty for the command line."""


@dataclass(frozen=True)
class Request:
    """Everything that a command line or a matrix asks for. None means: not said."""

    entries: tuple[Entry, ...]
    modes: tuple[Mode, ...] | None = None
    backend: str | None = None
    settings: dict[str, Any] = field(default_factory=dict)

    def over(self, lower: Request) -> Request:
        """This request laid over a lower layer (the command line over a matrix)."""
        return Request(
            self.entries or lower.entries,
            self.modes or lower.modes,
            self.backend or lower.backend,
            {**lower.settings, **self.settings},
        )


def parse_size(text: str) -> int:
    """``8g``, ``512m``, ``1.5GiB`` or plain bytes, in bytes.

    Raises:
        PlanError: it is none of these, or not positive.
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?\s*", text.lower())
    size = float(match[1]) * SIZES[match[2]] if match else 0.0
    if not 1 <= size < MOST_BYTES:
        raise PlanError(f"{text!r} is not a size; write for example 8g or 512m")
    return int(size)


def parse_modes(text: str) -> tuple[Mode, ...]:
    """A comma-separated list of modes, in the order in which they make sense.

    Raises:
        PlanError: an unknown mode, or none.
    """
    wanted = {name.strip() for name in text.split(",") if name.strip()}
    known = [mode.value for mode in Mode]
    unknown = sorted(wanted - set(known))
    if unknown:
        raise PlanError(f"unknown mode {unknown[0]!r}; modes are {', '.join(known)}")
    if not wanted:
        raise PlanError(f"no mode given; modes are {', '.join(known)}")
    return tuple(mode for mode in Mode if mode.value in wanted)


def read_candidate(spec: str, op: str, folder: Path | None = None) -> Candidate:
    """``file.py`` or ``file.py:function``; the function is named like the operator unless given.

    A file whose own name ends like that wins, so that colons in paths work.

    Raises:
        PlanError: no such file, or the function's name is no identifier.
    """
    folder = folder or Path.cwd()
    path, function = folder / spec, op
    if not path.is_file() and ":" in spec:
        name, _, function = spec.rpartition(":")
        path = folder / name
    if not path.is_file():
        raise PlanError(f"candidate {spec!r}: no file {path}")
    if not (function.isidentifier() and function.isascii()):
        raise PlanError(f"candidate {spec!r}: {function!r} is not a function's name")
    try:
        content = path.read_bytes()
    except OSError as error:
        raise PlanError(f"candidate {spec!r}: {error.strerror}") from error
    return Candidate(
        path=str(path.absolute()),
        function=function,
        sha256=hashlib.sha256(content).hexdigest(),
    )


def refresh_candidate(planned: Candidate) -> Candidate:
    """The candidate with its present content; as it was planned where the file is gone.

    A verdict on the planned content stays valid without the file; a job that still has to run
    finds it missing then.
    """
    try:
        content = Path(planned.path).read_bytes()
    except OSError:
        return planned
    return planned.model_copy(update={"sha256": hashlib.sha256(content).hexdigest()})


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid")

    op: str
    candidate: str | None = None
    override: str | None = None
    timeout: PositiveFloat | None = None
    memory: str | None = None
    profile_case: str | None = None


class _Matrix(BaseModel):
    """A matrix file."""

    model_config = ConfigDict(extra="forbid")

    backend: str | None = None
    modes: list[Mode] | None = None
    level: Level | None = None
    timeout: PositiveFloat | None = None
    memory: str | None = None
    warmup: PositiveInt | None = None
    iter: PositiveInt | None = None
    candidates: list[_Row] = Field(min_length=1)


def load_matrix(path: Path) -> Request:
    """Reads a matrix file. Paths in it are relative to the file.

    Raises:
        PlanError: unreadable or wrong, with the line.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PlanError(f"matrix {path}: {getattr(error, 'strerror', None) or error}") from error
    try:
        data, root = read_yaml(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else 1
        raise PlanError(f"{path}:{line}: not YAML: {getattr(error, 'problem', error)}") from error
    if not isinstance(data, dict):
        raise PlanError(f"{path}:1: a matrix is a mapping with the key 'candidates'")
    try:
        matrix = _Matrix.model_validate(data)
    except ValidationError as error:
        line = line_of(root, error.errors()[0]["loc"])
        raise PlanError(f"{path}:{line}: {explain(error)}") from error
    entries = []
    for number, row in enumerate(matrix.candidates):
        where = f"{path}:{line_of(root, ('candidates', number))}: "
        try:
            entries.append(_entry(row, path.absolute().parent, where))
        except PlanError as error:
            raise PlanError(f"{where}{error}") from error
    settings = {
        "level": matrix.level,
        "timeout_s": matrix.timeout,
        "memory_bytes": parse_size(matrix.memory) if matrix.memory else None,
        "warmup_ms": matrix.warmup,
        "iter_ms": matrix.iter,
    }
    return Request(
        tuple(entries),
        tuple(mode for mode in Mode if mode in matrix.modes) if matrix.modes else None,
        matrix.backend,
        {name: value for name, value in settings.items() if value is not None},
    )


def _entry(row: _Row, folder: Path, where: str) -> Entry:
    candidate = read_candidate(row.candidate, row.op, folder) if row.candidate else None
    if row.override and candidate is None:
        raise PlanError("override needs a candidate")
    settings = {
        "timeout_s": row.timeout,
        "memory_bytes": parse_size(row.memory) if row.memory else None,
        "profile_case": row.profile_case,
    }
    return Entry(
        row.op,
        candidate,
        row.override,
        {name: value for name, value in settings.items() if value is not None},
        where,
    )


def _override_of(entry: Entry) -> str:
    name = entry.override or entry.op
    if not (name.isidentifier() and name.isascii()) or name.startswith("__"):
        raise PlanError(f"{entry.where}override {name!r} is not a name an operator can have")
    return name


def make_jobs(request: Request, environment: Environment) -> tuple[Job, ...]:
    """All jobs of a request, mode after mode within each candidate.

    Raises:
        PlanError: a mode that needs a candidate has none, or two rows are the same job.
    """
    jobs: dict[str, Job] = {}
    for entry in request.entries:
        for mode in request.modes or DEFAULT_MODES:
            job = _job(entry, mode, {**request.settings, **entry.settings}, environment)
            twin = jobs.get(job.key)
            if twin is not None and job.candidate is not None and twin.candidate is not None:
                raise PlanError(
                    f"{entry.where}{job.candidate.path} is, to the byte, what {entry.op} has "
                    f"already as {twin.candidate.path}"
                )
            jobs[job.key] = job
    return tuple(jobs.values())


def _job(entry: Entry, mode: Mode, settings: dict[str, Any], environment: Environment) -> Job:
    if mode.needs_candidate and entry.candidate is None:
        raise PlanError(
            f"{entry.where}mode {mode.value} needs a candidate of {entry.op}, a FILE.py[:FUNCTION]"
        )
    try:
        return Job(
            op=entry.op,
            mode=mode,
            candidate=entry.candidate if mode.needs_candidate else None,
            override=_override_of(entry) if mode.needs_candidate else None,
            settings=Settings(**settings),
            environment=environment,
        )
    except ValidationError as error:
        raise PlanError(f"{entry.where}{entry.op} {mode.value}: {explain(error)}") from error
