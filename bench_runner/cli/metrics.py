# SPDX-License-Identifier: Apache-2.0
"""``bench-runner metrics``: the store as Prometheus metrics, once."""

from __future__ import annotations

from pathlib import Path

import click

from bench_runner.cli.options import PUSHGATEWAY, RUNS_DIR, TEXTFILE
from bench_runner.installed import require_extra_serve


@click.command()
@RUNS_DIR
@TEXTFILE
@PUSHGATEWAY
@click.option("--cases", is_flag=True, help="Also a series for every benchmark case.")
def metrics(runs_dir: Path, textfile: Path | None, pushgateway: str | None, cases: bool) -> None:
    """Print the metrics of a store, or write or push them. `serve` exports the same at /metrics."""
    require_extra_serve("prometheus_client", "the export of metrics")
    from bench_runner.metrics.output import as_text, export, registry_of

    if textfile or pushgateway:
        export(runs_dir, textfile, pushgateway, cases)
    else:
        click.echo(as_text(registry_of(runs_dir, cases)), nl=False)
