# SPDX-License-Identifier: Apache-2.0
"""Looks at the machine, one finding after another; nothing here changes anything."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import docker.errors
import psutil

from bench_runner.backends import Backend, load_backends
from bench_runner.devices import VENDORS, DeviceNotFound, find_devices
from bench_runner.devices.access import lacks
from bench_runner.environment import choose_place
from bench_runner.errors import InfrastructureFault
from bench_runner.executors.docker import connect
from bench_runner.images.labels import HOST_KIND, KIND_LABEL

ENOUGH_MEMORY = 4 << 30
ENOUGH_DISK = 5 << 30


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at. ``advice`` is empty where nothing is to be done."""

    what: str
    ok: bool
    found: str
    advice: str = ""


def diagnose() -> list[Finding]:
    """Executors, images and devices of every backend, and the machine's room."""
    backends = load_backends()
    findings = [_engine(), *_executors(backends["cpu"])]
    for vendor in VENDORS:
        findings += _devices(vendor, [b for b in backends.values() if b.vendor == vendor])
    return [*findings, _memory(), _disk()]


def _engine() -> Finding:
    try:
        client = connect()
    except InfrastructureFault as error:
        return Finding("Docker engine", False, "none answers", str(error))
    version = client.version()
    client.close()
    return Finding("Docker engine", True, f"{version['Version']}, API {version['ApiVersion']}")


def _executors(backend: Backend) -> list[Finding]:
    findings = []
    for name in ("docker", "local"):
        try:
            place = choose_place(name, backend)
        except InfrastructureFault as error:
            findings.append(Finding(f"{name} executor", False, "not usable", str(error)))
            continue
        environment = place.environment
        versions = ", ".join(f"{key} {value}" for key, value in environment.versions.items())
        what = f"{environment.image} with " if environment.image else ""
        findings.append(Finding(f"{name} executor", True, f"{what}{versions}", place.note))
    return findings


def _devices(vendor: str, backends: list[Backend]) -> list[Finding]:
    """The vendor's devices, and for each backend what its containers would miss."""
    try:
        devices = find_devices(vendor)
    except DeviceNotFound as error:
        return [Finding(f"{vendor} device", False, "none", str(error))]
    names = [f"{device.index}: {device.name}" for device in devices]
    found = devices[0].name if vendor == "cpu" else "; ".join(names)
    findings = [Finding(f"{vendor} device", True, found)]
    runtimes = _runtimes()
    if runtimes is None:
        return findings
    for backend in backends:
        nodes = [device.node for device in devices]
        missing = lacks(backend, nodes, runtimes, on_host=_is_host(backend.image.tag))
        if missing:
            first = missing[0]
            more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
            what = f"{backend.name} containers"
            findings.append(Finding(what, False, first.what + more, first.advice))
    return findings


def _is_host(tag: str) -> bool:
    """Whether this machine has the image, and it is of the kind host."""
    client = connect()
    try:
        return client.images.get(tag).labels.get(KIND_LABEL) == HOST_KIND
    except docker.errors.ImageNotFound:
        return False
    finally:
        client.close()


@lru_cache
def _runtimes() -> tuple[str, ...] | None:
    """The engine's runtimes; None without an engine, which is a finding of its own."""
    try:
        client = connect()
    except InfrastructureFault:
        return None
    try:
        return tuple(client.info().get("Runtimes", ()))
    finally:
        client.close()


def _memory() -> Finding:
    free = psutil.virtual_memory().available
    ok = free >= ENOUGH_MEMORY
    advice = "" if ok else "jobs of several GiB may be killed: lower --memory and --jobs"
    return Finding("memory", ok, f"{free / (1 << 30):.1f} GiB available", advice)


def _disk() -> Finding:
    free = shutil.disk_usage(Path.cwd()).free
    ok = free >= ENOUGH_DISK
    advice = "" if ok else "an image takes about 2 GiB: make room"
    return Finding("disk", ok, f"{free / (1 << 30):.1f} GiB free here", advice)
