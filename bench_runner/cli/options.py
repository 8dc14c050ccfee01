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


def _scraped_name(_: click.Context, __: click.Parameter, path: Path | None) -> Path | None:
    """Refused before anything runs: the collector would pass over the file without a word."""
    if path is not None and path.suffix != ".prom":
        raise click.BadParameter(f"node_exporter reads files that end in .prom alone, not {path}")
    return path


TEXTFILE = click.option(
    "--textfile",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE.prom",
    callback=_scraped_name,
    help="Write the store's metrics for node_exporter's textfile collector.",
)
PUSHGATEWAY = click.option(
    "--pushgateway", metavar="URL", help="Push the store's metrics to a Pushgateway."
)
