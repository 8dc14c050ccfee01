# SPDX-License-Identifier: Apache-2.0
"""Two consoles: data goes to stdout, talk to stderr. Pipes get whole cells and no escapes."""

from __future__ import annotations

import sys
from typing import IO

from rich.console import Console
from rich.table import Table

from bench_runner.contract.status import Status

PIPE_WIDTH = 1000
"""For a table that is not shown on a terminal: wide enough that no cell is cut."""

STYLES: dict[Status, str] = {
    Status.PASSED: "green",
    Status.ALL_SKIP: "yellow",
    Status.UNSUPPORTED: "yellow",
    Status.CANCELLED: "dim",
    Status.INFRA_ERROR: "magenta",
}
"""Every other status is red."""


def _console(stream: IO[str]) -> Console:
    # No markup: names of candidates and folders may hold brackets, and are shown as they are.
    if stream.isatty():
        return Console(file=stream, highlight=False, markup=False)
    return Console(file=stream, highlight=False, markup=False, width=PIPE_WIDTH, no_color=True)


def data() -> Console:
    return _console(sys.stdout)


def talk() -> Console:
    return _console(sys.stderr)


def print_table(table: Table) -> None:
    """Writes a table to stdout; in a pipe without the spaces that would fill its last column."""
    console = data()
    if console.is_terminal:
        console.print(table)
        return
    with console.capture() as capture:
        console.print(table)
    for line in capture.get().splitlines():
        print(line.rstrip())


def style(status: Status) -> str:
    return STYLES.get(status, "red")
