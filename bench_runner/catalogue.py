# SPDX-License-Identifier: Apache-2.0
"""The suite's table of operators, read through a command line: no import of flag_gems or torch."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from bench_runner.errors import InfrastructureFault, UsageFault


class CatalogueError(InfrastructureFault):
    """The suite's catalogue cannot be read."""


class Operator(BaseModel):
    """What the runner needs of a catalogue entry."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    name: str
    test: str
    """Accuracy tests, relative to the suite's root."""
    benchmark: str


class UnknownOperator(UsageFault, ValueError):
    """The catalogue has no operator of that name."""


class Catalogue:
    """Operators of one suite by name."""

    def __init__(self, operators: list[Operator]) -> None:
        self._operators = {operator.name: operator for operator in operators}

    @property
    def names(self) -> list[str]:
        return list(self._operators)

    def __getitem__(self, name: str) -> Operator:
        try:
            return self._operators[name]
        except KeyError:
            known = ", ".join(sorted(self._operators))
            raise UnknownOperator(f"unknown operator {name!r}; the suite has: {known}") from None


def read_catalogue(suite_root: Path) -> Catalogue:
    """Runs the catalogue file, which needs only the standard library.

    Raises:
        CatalogueError: it does not run, or prints something else.
    """
    path = suite_root / "flag_gems" / "catalog.py"
    # -I: a variable or folder of the user's must not decide what the table says.
    done = subprocess.run(
        [sys.executable, "-I", str(path), "--json"], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise CatalogueError(f"{path}: {last}")
    try:
        document: dict[str, Any] = json.loads(done.stdout)
        return Catalogue([Operator.model_validate(entry) for entry in document["operators"]])
    except (ValueError, KeyError, TypeError, ValidationError) as error:
        raise CatalogueError(f"{path}: printed no catalogue ({error})") from error
