# SPDX-License-Identifier: Apache-2.0
"""``bench-runner inventory``: a suite that cannot lose a test in silence. One file a verb."""

from __future__ import annotations

import importlib

import click

VERBS: dict[str, tuple[str, str]] = {
    "manifest": ("bench_runner.cli.inventory.manifest:manifest", "Record what a suite contains."),
    "diff": ("bench_runner.cli.inventory.diff:diff", "Name what differs between two manifests."),
    "gate": ("bench_runner.cli.inventory.gate:gate", "Pass only the changes that were approved."),
    "shadow": ("bench_runner.cli.inventory.shadow:shadow", "Label tests by hardware, with proof."),
    "plan": ("bench_runner.cli.inventory.plan:plan", "What may be decoupled, and what not."),
}


class _Verbs(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        module, _, attribute = VERBS[cmd_name][0].partition(":")
        command = getattr(importlib.import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(verb, text) for verb, (_, text) in VERBS.items()])


@click.group(cls=_Verbs)
def inventory() -> None:
    """Discovery manifests of a test suite, their differences, and gates on them."""
