# SPDX-License-Identifier: Apache-2.0
"""Which failures of upstream Triton's tests are no fault of ours, each with its reason.

The table is upstream_exceptions.toml. What fails and is not in it makes the run of
upstream_triton_tests.py fail, so that the run can be a gate.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import tomllib

TABLE = Path(__file__).with_suffix(".toml")


class BadTable(ValueError):
    """The table of exceptions cannot be read; the message says where."""


@dataclass(frozen=True)
class UpstreamException:
    """Tests that are expected to fail, and why."""

    file: str
    tests: re.Pattern[str]
    error: re.Pattern[str]
    reason: str

    def covers(self, file: str, test: str, error: str) -> bool:
        """Whether the failure ``error`` of ``test`` in ``file`` is this one."""
        return (
            file.split("::")[0] == self.file
            and self.tests.fullmatch(test) is not None
            and self.error.search(error) is not None
        )


def read_exceptions(path: Path = TABLE) -> list[UpstreamException]:
    """The table's entries in order.

    Raises:
        BadTable: no TOML, a missing or unknown field, or no regular expression.
    """
    try:
        entries = tomllib.loads(path.read_text())["exception"]
        return [
            UpstreamException(
                entry["file"],
                re.compile(entry["tests"]),
                re.compile(entry["error"]),
                entry["reason"],
            )
            for entry in entries
        ]
    except KeyError as error:
        raise BadTable(f"{path}: an exception has no {error.args[0]!r}") from None
    except (tomllib.TOMLDecodeError, re.error, TypeError) as error:
        raise BadTable(f"{path}: {error}") from None
