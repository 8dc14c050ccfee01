# SPDX-License-Identifier: Apache-2.0
"""``bench-runner serve``: the results server."""

from __future__ import annotations

import errno
import os
import socket
from pathlib import Path

import click

from bench_runner.cli.options import RUNS_DIR
from bench_runner.errors import InfrastructureFault, UsageFault
from bench_runner.installed import require_extra_serve


@click.command()
@RUNS_DIR
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen at.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True)
@click.option(
    "--allowed-host",
    "allowed_hosts",
    multiple=True,
    metavar="NAME",
    help="Name beside localhost that clients may call the server by. Repeatable.",
)
@click.option("--cases", is_flag=True, help="Metrics also for every benchmark case.")
def serve(
    runs_dir: Path, host: str, port: int, allowed_hosts: tuple[str, ...], cases: bool
) -> None:
    """Show the runs in a browser, and export them at /metrics and /api/v1. Changes nothing."""
    if not runs_dir.is_dir():
        raise UsageFault(f"{runs_dir} is not a folder; name the runs with --runs-dir")
    require_extra_serve("uvicorn", "the results server")
    import uvicorn

    from bench_runner.web.app import create_app

    extra = os.environ.get("BENCH_ALLOWED_HOSTS", "").split()
    app = create_app(runs_dir, (*allowed_hosts, *extra), cases)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        # Before the address is printed: whoever reads it may connect at once.
        listener.listen(128)
    except OSError as error:
        hint = "; choose another --port" if error.errno == errno.EADDRINUSE else ""
        raise InfrastructureFault(
            f"cannot listen at {host}:{port}: {error.strerror}{hint}"
        ) from error
    shown = f"[{host}]" if family == socket.AF_INET6 else host
    click.echo(f"http://{shown}:{listener.getsockname()[1]}/", err=True)
    config = uvicorn.Config(app, log_level="warning", access_log=False)
    uvicorn.Server(config).run(sockets=[listener])
