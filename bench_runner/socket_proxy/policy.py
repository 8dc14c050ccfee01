# SPDX-License-Identifier: Apache-2.0
"""What the proxy's owner allows beyond the locked-down container: one frozen record."""

from __future__ import annotations

from dataclasses import dataclass

from bench_runner.backends import Backend


@dataclass(frozen=True)
class Policy:
    """The most that any container made through the proxy may have."""

    volume: str
    """The one named volume whose subfolders containers may see at /in and /out."""
    devices: frozenset[str] = frozenset()
    """Device nodes, with `{id}` for a number."""
    runtimes: frozenset[str] = frozenset()
    request_drivers: frozenset[str] = frozenset()
    read_only_paths: frozenset[str] = frozenset()
    """Folders of the machine that a vendor's driver needs inside, read-only."""


def policy_of(volume: str, backends: list[Backend]) -> Policy:
    """What these backends of the table need, taken together.

    Raises:
        ValueError: a backend asks for a privileged container, which no rule can contain.
    """
    for backend in backends:
        if backend.container.privileged:
            raise ValueError(
                f"backend {backend.name} runs privileged containers, which are root on the "
                "machine; run it with the engine's own socket, or leave it out"
            )
    needs = [backend.container for backend in backends]
    return Policy(
        volume=volume,
        devices=frozenset(d for n in needs for d in (*n.devices, *n.device_nodes)),
        runtimes=frozenset(n.runtime for n in needs if n.runtime),
        request_drivers=frozenset(r.driver for n in needs for r in n.device_requests),
        read_only_paths=frozenset(path for n in needs for path in n.mounts),
    )
