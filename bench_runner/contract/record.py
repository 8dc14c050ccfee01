# SPDX-License-Identifier: Apache-2.0
"""What all records share: frozen, closed, finite, and written to disk whole or not at all."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from bench_runner.errors import InfrastructureFault


class ContractError(InfrastructureFault, ValueError):
    """A record on disk is not what its schema says; the message names the file and the field."""


class Record(BaseModel):
    """A record of our own making: unknown fields are errors, numbers are finite."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Claim(BaseModel):
    """A record that a process shared with a candidate wrote.

    Fields that we do not know are ignored, because a claim decides nothing by itself; those that
    we do know must be well formed.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False, strict=True)


Model = TypeVar("Model", bound=BaseModel)


def explain(error: ValidationError) -> str:
    """The first problem of a validation error in one line: ``field.path: what is wrong``."""
    first = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in first["loc"]) or "document"
    more = error.error_count() - 1
    return f"{where}: {first['msg']}" + (f" (and {more} more)" if more else "")


def parse(model: type[Model], text: str | bytes, source: str) -> Model:
    """Parses JSON ``text`` as ``model``; ``source`` names it in errors.

    Raises:
        ContractError: not JSON, or not what the model demands.
    """
    try:
        return model.model_validate_json(text)
    except ValidationError as error:
        raise ContractError(f"{source}: {explain(error)}") from error


def canonical_sha256(value: Any) -> str:
    """Hash of a JSON value, independent of key order and white space."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def write_atomically(path: Path, text: str) -> None:
    """Writes ``path`` so that a reader, or a power cut, meets the old content or the new one."""
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    # The new name is the folder's content: without this a power cut may bring the old one back.
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def write_record(path: Path, record: BaseModel) -> None:
    """Writes a record as indented JSON, atomically."""
    write_atomically(path, record.model_dump_json(indent=2, exclude_none=True) + "\n")
