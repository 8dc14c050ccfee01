# SPDX-License-Identifier: Apache-2.0
"""Which layout the folder of runs has, so that no program reads one that it does not know.

Format 1 had no mark: run folders with records of version 1. Format 2 adds optional fields to these
records, so a store of format 1 is one of format 2 already and is marked when it is next written to.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import PositiveInt

from bench_runner.contract.record import Record, parse, write_record
from bench_runner.errors import InfrastructureFault

FORMAT = 2
MARK = ".store.json"


class StoreTooNew(InfrastructureFault):
    """The store was written by a newer program."""


class Mark(Record):
    """The store's own record."""

    schema_version: Literal["bench-runner.store/v1"] = "bench-runner.store/v1"
    format: PositiveInt


def check(root: Path) -> None:
    """Refuses a store that this program does not know.

    Raises:
        StoreTooNew: its format is newer than FORMAT.
        ContractError: its mark is damaged.
    """
    file = root / MARK
    try:
        text = file.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return
    found = parse(Mark, text, str(file)).format
    if found > FORMAT:
        raise StoreTooNew(
            f"{root} is a store of format {found}, this program knows formats up to {FORMAT}; "
            "upgrade bench-runner"
        )


def mark(root: Path) -> None:
    """Marks a store that is about to be written to."""
    file = root / MARK
    if not file.exists():
        write_record(file, Mark(format=FORMAT))
