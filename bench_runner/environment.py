# SPDX-License-Identifier: Apache-2.0
"""Choosing the executor, and describing where jobs run so that results of two places never mix."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from bench_runner.backends import Backend
from bench_runner.contract.job import Environment
from bench_runner.devices import describe_device, find_devices
from bench_runner.devices.slots import Slots, choose
from bench_runner.executors.docker import DockerExecutor
from bench_runner.executors.interface import Executor, ExecutorError
from bench_runner.executors.local import LocalExecutor
from bench_runner.installed import installed_versions
from bench_runner.suite import suite_fingerprint, suite_root


@dataclass(frozen=True)
class Place:
    """Where a run's jobs go."""

    executor: Executor
    environment: Environment
    slots: Slots
    """The devices, for one job each."""
    note: str
    """What a reader of the results has to know about the place; empty when all is as preferred."""


def choose_place(wanted: str, backend: Backend, devices: str | None = None) -> Place:
    """The executor for ``auto``, ``docker`` or ``local``, its environment and its devices.

    Args:
        devices: numbers or IDs separated by commas; None means those that the vendor's own variable
            leaves visible, or all.

    Raises:
        ExecutorError: docker was asked for and cannot be used.
        SuiteNotFoundError: there is no suite to run locally or to compare the image with.
        DeviceNotFound: the backend's device is absent.
        UsageFault: a device that is asked for is.
    """
    root = suite_root()
    slots = _slots(backend, devices)
    if wanted == "local":
        return _local(backend, root, slots, "")
    try:
        return _docker(backend, root, slots)
    except ExecutorError as error:
        if wanted == "docker":
            raise
        return _local(backend, root, slots, f"local executor, jobs are not isolated: {error}")


def _slots(backend: Backend, wanted: str | None) -> Slots:
    devices = find_devices(backend.vendor)
    variable = backend.container.visible_devices.narrowed
    visible = os.environ.get(variable) if variable else None
    chosen = choose(devices, wanted, visible)
    # A CPU is everybody's: the scheduler alone keeps jobs of a run apart there.
    return Slots(backend.vendor, chosen, shared=backend.vendor == "cpu")


def _docker(backend: Backend, root: Path, slots: Slots) -> Place:
    executor = DockerExecutor(backend)
    if not executor.image_suite:
        raise ExecutorError(
            f"image {executor.image} has no suite label; build it with: "
            f"bench-runner images build {backend.name}"
        )
    stale = executor.image_suite != suite_fingerprint(root)
    environment = Environment(
        backend=backend.name,
        vendor=backend.vendor,
        executor="docker",
        image=executor.image,
        image_id=executor.image_id,
        suite=executor.image_suite,
        device=describe_device(backend.vendor),
        versions=executor.image_versions,
    )
    note = (
        f"image {executor.image} holds another version of the suite than this checkout; "
        f"rebuild it with: bench-runner images build {backend.name}"
        if stale
        else ""
    )
    return Place(executor, environment, slots, note)


def _local(backend: Backend, root: Path, slots: Slots, note: str) -> Place:
    environment = Environment(
        backend=backend.name,
        vendor=backend.vendor,
        executor="local",
        suite=suite_fingerprint(root),
        device=describe_device(backend.vendor),
        versions=installed_versions(),
    )
    return Place(LocalExecutor(backend, root), environment, slots, note)
