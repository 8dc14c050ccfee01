# SPDX-License-Identifier: Apache-2.0
"""``bench-runner completion``: what a shell needs to complete verbs, options and their values."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the script that makes SHELL complete bench-runner.

    For bash: echo 'source <(bench-runner completion bash)' >> ~/.bashrc
    """
    root = click.get_current_context().find_root().command
    maker = get_completion_class(shell)
    assert maker is not None
    click.echo(maker(root, {}, "bench-runner", "_BENCH_RUNNER_COMPLETE").source())
