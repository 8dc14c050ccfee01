# SPDX-License-Identifier: Apache-2.0
"""What stands between a backend's containers and its device on this machine, and how to mend it."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from dataclasses import dataclass

from bench_runner.backends import Backend

RUNTIME_OF_DRIVER = {"nvidia": "nvidia"}
"""The engine's runtime (or CDI hook) that a device request's driver comes with."""
TOOLKITS = {
    "nvidia": "install nvidia-container-toolkit, run `nvidia-ctk runtime configure "
    "--runtime=docker` and restart the engine",
    "mthreads": "install mt-container-toolkit, which adds the runtime to "
    "/etc/docker/daemon.json, and restart the engine",
    "ascend": "install the driver (it brings the nodes and /usr/local/Ascend/driver)",
    "iluvatar": "install the CoreX driver",
}


@dataclass(frozen=True)
class Lack:
    """One thing a container would miss."""

    what: str
    advice: str


def lacks(
    backend: Backend,
    nodes: Collection[int],
    runtimes: Collection[str],
    exists: Callable[[str], bool] = os.path.exists,
    on_host: bool = False,
) -> list[Lack]:
    """What is missing for containers of `backend` to use its devices.

    Args:
        nodes: numbers of the device nodes of the devices that were found.
        runtimes: the engine's runtimes, by name.
        on_host: the image is of the kind host, which needs no runtime but the devices' nodes.
    """
    needs = backend.container
    advice = TOOLKITS.get(backend.vendor, "see docs/backends.md")
    missing = []
    if needs.runtime and needs.runtime not in runtimes and not on_host:
        missing.append(Lack(f"the engine has no runtime {needs.runtime}", advice))
    for request in () if on_host else needs.device_requests:
        runtime = RUNTIME_OF_DRIVER.get(request.driver)
        if runtime and runtime not in runtimes:
            missing.append(Lack(f"the engine has no runtime {runtime}", advice))
    patterns = (*needs.device_nodes, *(needs.host_device_nodes if on_host else ()))
    per_device = [pattern.replace("{id}", str(node)) for pattern in patterns for node in nodes]
    for path in (*needs.devices, *per_device):
        if not exists(path):
            missing.append(Lack(f"no device node {path}", advice))
    for path in needs.mounts:
        if not exists(path):
            missing.append(Lack(f"no {path}, which its containers mount", advice))
    return missing
