# SPDX-License-Identifier: Apache-2.0
"""``bench-runner inventory``: a suite that cannot lose a test in silence. One file a verb."""

from __future__ import annotations

import click

from bench_runner.cli.lazy import Verbs, lazy

VERBS: Verbs = {
    "manifest": ("bench_runner.cli.inventory.manifest:manifest", "Record what a suite contains."),
    "diff": ("bench_runner.cli.inventory.diff:diff", "Name what differs between two manifests."),
    "gate": ("bench_runner.cli.inventory.gate:gate", "Pass only the changes that were approved."),
    "shadow": ("bench_runner.cli.inventory.shadow:shadow", "Label tests by hardware, with proof."),
    "plan": ("bench_runner.cli.inventory.plan:plan", "What may be decoupled, and what not."),
}


@click.group(cls=lazy(VERBS))
def inventory() -> None:
    """Discovery manifests of a test suite, their differences, and gates on them."""
