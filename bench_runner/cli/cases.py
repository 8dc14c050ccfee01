# SPDX-License-Identifier: Apache-2.0
"""``bench-runner cases``: what a candidate of an operator will be held against."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import click
from rich.table import Table

from bench_runner.backends import load_backends
from bench_runner.catalogue import read_catalogue
from bench_runner.cli import terminal, values
from bench_runner.cli.options import EXECUTOR, FORMAT, LEVEL, RUNS_DIR
from bench_runner.contract.job import Settings
from bench_runner.environment import choose_place
from bench_runner.errors import InfrastructureFault
from bench_runner.executors.run_lock import acquire
from bench_runner.expectations import Expectations, ListingFailed
from bench_runner.launching import Launcher
from bench_runner.plan import PlanError
from bench_runner.suite import suite_root


@click.command()
@click.option("--op", shell_complete=values.operators, required=True, help="Operator.")
@click.option(
    "--backend",
    shell_complete=values.backends,
    default="cpu",
    show_default=True,
    help="A key of backends.yaml.",
)
@click.option("--level", type=LEVEL, default="core", show_default=True)
@EXECUTOR
@RUNS_DIR
@FORMAT
def cases(
    op: str, backend: str, level: str, executor: str, runs_dir: Path, output_format: str
) -> None:
    """List the benchmark cases and accuracy tests of an operator, without making a tensor."""
    backends = load_backends()
    if backend not in backends:
        raise PlanError(f"unknown backend {backend!r}; backends.yaml has: {', '.join(backends)}")
    operator = read_catalogue(suite_root())[op]
    place = choose_place(executor, backends[backend])
    if place.note:
        terminal.talk().print(f"note: {place.note}", soft_wrap=True)
    runs_dir.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=runs_dir.absolute(), prefix=".cases-") as temporary:
        folder = Path(temporary)
        acquire(folder)
        launcher = Launcher(place.executor, place.slots)
        expectations = Expectations(
            launcher, place.environment, folder, runs_dir.absolute() / ".expectations"
        )
        settings = Settings.model_validate({"level": level})
        try:
            expectation = expectations.of(operator, settings)
        except ListingFailed as error:
            raise InfrastructureFault(str(error)) from error
    if output_format == "json":
        click.echo(json.dumps(expectation.model_dump(mode="json"), indent=2))
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("case", "dtype", "shape"):
        table.add_column(name, overflow="fold")
    for benchmark in expectation.cases.benchmarks:
        for case in benchmark.cases:
            table.add_row(case.case_id, case.dtype, json.dumps(case.shape))
    terminal.print_table(table)
    many, tests = len(expectation.cases.case_ids), len(expectation.tests)
    terminal.talk().print(f"{many} benchmark cases, {tests} accuracy tests")
