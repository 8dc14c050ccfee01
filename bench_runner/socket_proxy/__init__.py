# SPDX-License-Identifier: Apache-2.0
"""A gate before the Docker engine's socket that lets through what the runner needs and no more.

Whoever holds the engine's socket is root on its machine. The proxy holds it in the runner's stead
and lets it do five things: ask for the engine's version, look at this project's images, and
create, drive and remove locked-down containers of them. It runs as
`python -m bench_runner.socket_proxy`.
"""
