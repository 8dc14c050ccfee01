# SPDX-License-Identifier: Apache-2.0
"""What a shell completes: operators, backends, runs. A fault completes nothing and is silent."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from bench_runner.errors import InfrastructureFault, UsageFault


def _fitting(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def operators(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Operators of the suite."""
    from bench_runner.catalogue import read_catalogue
    from bench_runner.suite import suite_root

    try:
        return _fitting(read_catalogue(suite_root()).names, incomplete)
    except (UsageFault, InfrastructureFault, OSError):
        return []


def backends(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Keys of backends.yaml."""
    from bench_runner.backends import load_backends

    try:
        return _fitting(load_backends(), incomplete)
    except (UsageFault, InfrastructureFault, OSError):
        return []


def runs(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Runs in the folder that the command line names so far."""
    from bench_runner.store.runs import RunStore

    try:
        folder = Path(context.params.get("runs_dir") or "runs")
        return _fitting(["latest", *RunStore(folder).ids()], incomplete)
    except (UsageFault, InfrastructureFault, OSError):
        return []
