# SPDX-License-Identifier: Apache-2.0
"""`python -m bench_runner.socket_proxy`: serves the gate until it is told to stop.

Environment:
    BENCH_ENGINE_SOCKET   the engine's socket (/var/run/docker.sock)
    BENCH_PROXY_SOCKET    where to listen (/run/bench-runner/docker.sock)
    BENCH_RUNS_VOLUME     the named volume that holds the runs, as the runner has it: NAME:FOLDER
    BENCH_PROXY_BACKENDS  backends of backends.yaml to allow, separated by commas (cpu)

`--check` asks the running proxy for the engine and exits with 0 if it answers.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import sys
from pathlib import Path

from bench_runner.backends import load_backends
from bench_runner.errors import InfrastructureFault, UsageFault
from bench_runner.executors.storage import VARIABLE, VolumeStorage, storage
from bench_runner.socket_proxy.engine import Engine, EngineGone
from bench_runner.socket_proxy.policy import Policy, policy_of
from bench_runner.socket_proxy.proxy import Proxy

DEFAULT_ENGINE = "/var/run/docker.sock"
DEFAULT_LISTEN = "/run/bench-runner/docker.sock"


def main(arguments: list[str]) -> int:
    """Exit code: 0 told to stop (or the check passed), 1 the check failed, 2 bad settings."""
    listen = Path(os.environ.get("BENCH_PROXY_SOCKET") or DEFAULT_LISTEN)
    if arguments == ["--check"]:
        return asyncio.run(_check(listen))
    if arguments:
        print("usage: python -m bench_runner.socket_proxy [--check]", file=sys.stderr)
        return 2
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
    try:
        policy = _policy()
        engine = Engine(os.environ.get("BENCH_ENGINE_SOCKET") or DEFAULT_ENGINE)
        asyncio.run(_serve(Proxy(engine, policy), listen))
    except (UsageFault, InfrastructureFault, ValueError, OSError) as error:
        print(f"socket proxy: {error}", file=sys.stderr)
        return 2
    return 0


def _policy() -> Policy:
    runs = storage()
    if not isinstance(runs, VolumeStorage):
        raise UsageFault(f"{VARIABLE} is not set: name the volume that holds the runs")
    table = load_backends()
    names = (os.environ.get("BENCH_PROXY_BACKENDS") or "cpu").split(",")
    for name in names:
        if name not in table:
            raise UsageFault(
                f"BENCH_PROXY_BACKENDS: unknown backend {name!r}; known are {', '.join(table)}"
            )
    return policy_of(runs.volume, [table[name] for name in names])


async def _serve(proxy: Proxy, listen: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        listen.unlink()
    # Who may reach the folder may use the socket: the volume around it is the border.
    mask = os.umask(0o111)
    try:
        server = await asyncio.start_unix_server(proxy.serve, path=str(listen))
    finally:
        os.umask(mask)
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    logging.getLogger("bench_runner.socket_proxy").info("listening at %s", listen)
    await stopped.wait()
    server.close()


async def _check(listen: Path) -> int:
    try:
        exchange = await Engine(str(listen)).send("GET", "/_ping")
        answer = await asyncio.wait_for(exchange.event(), 5)
        exchange.close()
    except (EngineGone, TimeoutError, OSError) as error:
        print(f"socket proxy: {error}", file=sys.stderr)
        return 1
    return 0 if answer.status_code == 200 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
