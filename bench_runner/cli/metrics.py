# SPDX-License-Identifier: Apache-2.0
"""``bench-runner metrics``: the store as Prometheus metrics, once."""

from __future__ import annotations

from pathlib import Path

import click

from bench_runner.cli.options import RUNS_DIR


@click.command()
@RUNS_DIR
@click.option(
    "--textfile",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File for node_exporter's textfile collector; its name has to end in .prom.",
)
@click.option("--pushgateway", metavar="URL", help="Pushgateway that takes them.")
@click.option("--cases", is_flag=True, help="Also a series for every benchmark case.")
def metrics(runs_dir: Path, textfile: Path | None, pushgateway: str | None, cases: bool) -> None:
    """Print the metrics of a store, or write or push them. `serve` exports the same at /metrics."""
    from bench_runner.metrics.output import as_text, push, registry_of, write_textfile

    registry = registry_of(runs_dir, cases)
    if textfile:
        write_textfile(registry, textfile)
    if pushgateway:
        push(registry, pushgateway)
    if not (textfile or pushgateway):
        click.echo(as_text(registry), nl=False)
