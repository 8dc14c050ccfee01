# SPDX-License-Identifier: Apache-2.0
"""Where a session's report goes, and that it is there whole or not at all."""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Iterable, Mapping
from enum import Enum
from pathlib import Path
from typing import Any

import pytest


def plain(value: Any) -> Any:
    """The value as JSON can hold it: tuples are lists, dtypes lose their `torch.`, and what is not
    a finite number is a string. A member of an enumeration is its value."""
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, str):
        # JSON's readers refuse half a surrogate pair, which a message may well hold.
        return value.encode("utf-8", "backslashreplace").decode()
    if value is None or isinstance(value, bool):
        return value
    # Plain numbers of numpy's too: its float64 is a float that no worker can send.
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    return str(value).removeprefix("torch.")


def record_format(config: pytest.Config) -> str:
    """The report's format, none, log or json; naming an --output alone asks for json."""
    if config.option.record == "none" and config.option.output:
        return "json"
    return str(config.option.record)


def encode(document: Any) -> str:
    """The document as JSON text; NaN and infinities never occur as numbers."""
    return json.dumps(plain(document), indent=2, allow_nan=False) + "\n"


class ReportFile:
    """A report that is absent from the session's start until it is complete."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(os.path.abspath(path))

    def clear(self) -> None:
        """Remove what an earlier session left, so that it cannot pass for this one's.

        Raises:
            pytest.UsageError: the path cannot be a report file.
        """
        if self.path.is_dir():
            raise pytest.UsageError(f"--output {self.path} is a directory")
        if not self.path.parent.is_dir():
            raise pytest.UsageError(f"--output {self.path}: its folder does not exist")
        try:
            self.path.unlink(missing_ok=True)
        except OSError as error:
            raise pytest.UsageError(f"--output {self.path}: {error.strerror}") from error

    def write(self, document: Any) -> None:
        """Write the document as JSON under a temporary name beside the path, then rename it."""
        self._replace(encode(document))

    def write_lines(self, records: Iterable[Any]) -> None:
        """Write one JSON object a line."""
        lines = (json.dumps(plain(record), allow_nan=False) + "\n" for record in records)
        self._replace("".join(lines))

    def _replace(self, text: str) -> None:
        descriptor, name = tempfile.mkstemp(prefix=f".{self.path.name}.", dir=self.path.parent)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
                stream.write(text)
            # mkstemp makes files for the owner alone; a report has an ordinary file's mode.
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(name, 0o666 & ~umask)
            os.replace(name, self.path)
        except BaseException:
            os.unlink(name)
            raise
