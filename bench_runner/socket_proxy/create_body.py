# SPDX-License-Identifier: Apache-2.0
"""Judges the body of POST /containers/create: everything that is not expected is refused.

The engine knows dozens of fields and learns new ones with each release, so fields are allowed by
name, and an unknown one must be empty.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any

from bench_runner.executors.labels import RUN_LABEL
from bench_runner.socket_proxy.policy import Policy

MOST_MEMORY = 1 << 40
MOST_PROCESSES = 1 << 16
USER = re.compile(r"[1-9][0-9]*:[1-9][0-9]*")
TEMPORARY = re.compile(r"[a-z0-9=,]+")


class Refused(Exception):
    """The request is not allowed; the message says which part and why."""


def check_create(body: Any, policy: Policy) -> None:
    """Raises Refused unless `body` makes a container that is locked down as the policy says."""
    _fields(body, "the body", TOP_LEVEL, policy)
    for name in ("Image", "Labels", "User", "HostConfig"):
        if not body.get(name):
            raise Refused(f"{name} is missing")
    host = body["HostConfig"]
    for name in REQUIRED_HOST:
        if not host.get(name):
            raise Refused(f"HostConfig.{name} is missing")


def _fields(
    record: Any, where: str, rules: dict[str, Callable[[Any, Policy], bool]], policy: Policy
) -> None:
    if not isinstance(record, dict):
        raise Refused(f"{where} is not an object")
    for name, value in record.items():
        rule = rules.get(name)
        if rule is None:
            if value not in (None, "", 0, False, [], {}):
                raise Refused(f"{name} is not allowed")
        elif value is not None and not rule(value, policy):
            raise Refused(f"{name} {value!r} is not allowed")


def _is(*allowed: Any) -> Callable[[Any, Policy], bool]:
    # By type too: to Python, True is 1.
    return lambda value, _: any(type(value) is type(a) and value == a for a in allowed)


def _whole(most: int) -> Callable[[Any, Policy], bool]:
    return lambda value, _: type(value) is int and 0 < value <= most


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _one_of(value: Any, allowed: frozenset[str]) -> bool:
    return isinstance(value, str) and value in allowed


def _subset(value: Any, allowed: frozenset[str]) -> bool:
    return _texts(value) and allowed.issuperset(value)


def _labels(value: Any, policy: Policy) -> bool:
    return (
        isinstance(value, dict)
        and set(value) == {RUN_LABEL}
        and str(value[RUN_LABEL]).startswith(f"volume:{policy.volume}/")
    )


def _user(value: Any, _: Policy) -> bool:
    return isinstance(value, str) and USER.fullmatch(value) is not None


def _host_config(value: Any, policy: Policy) -> bool:
    _fields(value, "HostConfig", HOST_CONFIG, policy)
    return True


def _mounts(value: Any, policy: Policy) -> bool:
    return isinstance(value, list) and all(_mount(item, policy) for item in value)


def _mount(mount: Any, policy: Policy) -> bool:
    """A subfolder of the volume at /in (read-only) or /out, or a vendor's folder as it is.

    The engine itself resolves a subfolder inside its volume, so that a link planted there leads
    nowhere. A bind mount of a path would follow it.
    """
    if not isinstance(mount, dict):
        return False
    target, kind = mount.get("Target"), mount.get("Type")
    extra = set(mount) - {"Target", "Source", "Type", "ReadOnly", "VolumeOptions"}
    if extra:
        raise Refused(f"mount option {sorted(extra)[0]} is not allowed")
    if kind == "bind":
        return (
            _one_of(mount.get("Source"), policy.read_only_paths)
            and target == mount.get("Source")
            and mount.get("ReadOnly") is True
            and "VolumeOptions" not in mount
        )
    options = mount.get("VolumeOptions")
    return (
        kind == "volume"
        and mount.get("Source") == policy.volume
        and (target == "/out" or (target == "/in" and mount.get("ReadOnly") is True))
        and isinstance(options, dict)
        and set(options) <= {"Subpath", "NoCopy"}
        and _inside(options.get("Subpath"))
    )


def _inside(subpath: Any) -> bool:
    """At least a run's folder and a job's: never the root of the volume."""
    if not isinstance(subpath, str):
        return False
    parts = PurePosixPath(subpath).parts
    return len(parts) >= 3 and parts[0] != "/" and ".." not in parts


def _devices(value: Any, policy: Policy) -> bool:
    patterns = [
        re.compile(re.escape(path).replace(r"\{id\}", "[0-9]{1,4}")) for path in policy.devices
    ]
    return isinstance(value, list) and all(
        isinstance(item, dict)
        and set(item) <= {"PathOnHost", "PathInContainer", "CgroupPermissions"}
        and isinstance(item.get("PathOnHost"), str)
        and item["PathOnHost"] == item.get("PathInContainer")
        and any(pattern.fullmatch(item["PathOnHost"]) for pattern in patterns)
        for item in value
    )


def _device_requests(value: Any, policy: Policy) -> bool:
    return isinstance(value, list) and all(
        isinstance(item, dict)
        and _one_of(item.get("Driver"), policy.request_drivers)
        and not item.get("Options")
        and item.get("Count", 0) == 0
        for item in value
    )


def _tmpfs(value: Any, _: Policy) -> bool:
    return (
        isinstance(value, dict)
        and set(value) == {"/tmp"}
        and isinstance(value["/tmp"], str)
        and TEMPORARY.fullmatch(value["/tmp"]) is not None
    )


def _log_config(value: Any, _: Policy) -> bool:
    return isinstance(value, dict) and value.get("Type") == "none" and not value.get("Config")


def _limits(value: Any, _: Policy) -> bool:
    return isinstance(value, list) and all(
        isinstance(item, dict) and item.get("Name") in ("core", "fsize", "nofile") for item in value
    )


TOP_LEVEL: dict[str, Callable[[Any, Policy], bool]] = {
    "Image": lambda value, _: isinstance(value, str),
    "Cmd": lambda value, _: _texts(value),
    "Env": lambda value, _: _texts(value),
    "Labels": _labels,
    "User": _user,
    "OpenStdin": _is(True, False),
    "StdinOnce": _is(True, False),
    "AttachStdin": _is(True, False),
    "AttachStdout": _is(True, False),
    "AttachStderr": _is(True, False),
    "Tty": _is(False),
    "HostConfig": _host_config,
}
HOST_CONFIG: dict[str, Callable[[Any, Policy], bool]] = {
    "Mounts": _mounts,
    "NetworkMode": _is("none"),
    "ReadonlyRootfs": _is(True),
    "CapDrop": _is(["ALL"]),
    "CapAdd": _is(None, []),
    "SecurityOpt": _is(["no-new-privileges"]),
    "Privileged": _is(False),
    "Runtime": lambda value, policy: _one_of(value, policy.runtimes),
    "Devices": _devices,
    "DeviceRequests": _device_requests,
    "Memory": _whole(MOST_MEMORY),
    "MemorySwap": _whole(MOST_MEMORY),
    "PidsLimit": _whole(MOST_PROCESSES),
    "IpcMode": _is("private"),
    "Tmpfs": _tmpfs,
    "Ulimits": _limits,
    "LogConfig": _log_config,
}
REQUIRED_HOST = (
    "NetworkMode",
    "ReadonlyRootfs",
    "CapDrop",
    "SecurityOpt",
    "Memory",
    "PidsLimit",
    "IpcMode",
)
