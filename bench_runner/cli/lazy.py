# SPDX-License-Identifier: Apache-2.0
"""Groups of verbs of which each is imported when it is called for: help answers at once."""

from __future__ import annotations

import importlib
from typing import ClassVar

import click

Verbs = dict[str, tuple[str, str]]
"""Verb to where it is (``module:attribute``) and what help says of it."""


class LazyGroup(click.Group):
    """A click group that imports a command when it is run."""

    verbs: ClassVar[Verbs] = {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.verbs)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.verbs:
            return None
        module, _, attribute = self.verbs[cmd_name][0].partition(":")
        command = getattr(importlib.import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(verb, text) for verb, (_, text) in self.verbs.items()])


def lazy(verbs: Verbs) -> type[LazyGroup]:
    """The class of a group with these verbs."""
    return type("LazyGroup", (LazyGroup,), {"verbs": verbs})
