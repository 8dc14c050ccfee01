# SPDX-License-Identifier: Apache-2.0
"""Options that several verbs share."""

from __future__ import annotations

from pathlib import Path

import click

FORMAT = click.option(
    "--format",
    "output_format",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="What is written to stdout.",
)
RUNS_DIR = click.option(
    "--runs-dir",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("runs"),
    show_default=True,
    envvar="BENCH_RUNS_DIR",
    help="Folder that holds the runs.",
)
EXECUTOR = click.option(
    "--executor",
    type=click.Choice(["auto", "docker", "local"]),
    default="auto",
    show_default=True,
    help="auto takes docker where an engine and the image are there, else local, and says so.",
)
LEVEL = click.Choice(["core", "comprehensive"])
