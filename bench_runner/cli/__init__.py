# SPDX-License-Identifier: Apache-2.0
"""The command line. Each verb is a file of this folder, imported when it is called for."""

from __future__ import annotations

import sys
import traceback

import click

from bench_runner.cli.lazy import Verbs, lazy
from bench_runner.errors import InfrastructureFault, UsageFault

VERBS: Verbs = {
    "run": ("bench_runner.cli.run:run", "Run candidates through their modes and judge them."),
    "cases": ("bench_runner.cli.cases:cases", "List the benchmark cases of an operator."),
    "list": ("bench_runner.cli.list:list_runs", "List the runs in a folder, newest first."),
    "show": ("bench_runner.cli.show:show", "Show one run, or one job of it."),
    "compare": ("bench_runner.cli.compare:compare_two", "Compare two candidates or runs."),
    "report": ("bench_runner.cli.report:report", "Write a run as one HTML file."),
    "serve": ("bench_runner.cli.serve:serve", "Show the runs in a browser; export metrics."),
    "metrics": ("bench_runner.cli.metrics:metrics", "Print, write or push Prometheus metrics."),
    "prune": ("bench_runner.cli.prune:prune", "Delete old runs, but not the best and the newest."),
    "reindex": ("bench_runner.cli.reindex:reindex", "Build the index of a folder of runs anew."),
    "doctor": ("bench_runner.cli.doctor:doctor", "Say what this machine can run, and what not."),
    "inventory": (
        "bench_runner.cli.inventory:inventory",
        "Record, compare and gate what a test suite contains.",
    ),
    "images": ("bench_runner.cli.images:images", "Plan, build and list container images."),
    "completion": ("bench_runner.cli.completion:completion", "Make a shell complete all this."),
}


@click.group(cls=lazy(VERBS), context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.version_option(package_name="flag-gems", prog_name="bench-runner")
def cli(debug: bool) -> None:
    """Judge kernel candidates: does each run, is it right, how fast is it, and why."""


def main() -> None:
    """Entry point of ``bench-runner``: one line for a fault, its exit code, no traceback."""
    debug = "--debug" in sys.argv[1:2]
    try:
        cli(prog_name="bench-runner")
    except (UsageFault, InfrastructureFault) as error:
        if debug:
            traceback.print_exc()
        click.echo(f"bench-runner: {error}", err=True)
        sys.exit(error.exit_code)
    except OSError as error:
        if debug:
            traceback.print_exc()
        where = f"{error.filename}: " if error.filename else ""
        click.echo(f"bench-runner: {where}{error.strerror or error}", err=True)
        sys.exit(InfrastructureFault.exit_code)
    except Exception as error:
        if debug:
            raise
        text = " ".join(f"{type(error).__name__}: {error}".split())
        click.echo(
            f"bench-runner: internal error, {text}; run with 'bench-runner --debug ...' "
            "and report what it prints",
            err=True,
        )
        sys.exit(InfrastructureFault.exit_code)
