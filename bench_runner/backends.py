# SPDX-License-Identifier: Apache-2.0
"""Reads backends.yaml, the one table of vendors: a fault is one line with file, line and key.

`load_backends()` is the whole public face; everything else here is the schema.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from bench_runner.errors import UsageFault
from bench_runner.yaml_lines import DuplicateKeyError, line_of, read_yaml

AbsolutePath = Annotated[str, StringConstraints(pattern=r"^/[^\s:]*$")]
_REQUIREMENT = r"^[A-Za-z0-9][\w.-]*(==|<|<=|>=|~=)\S+$"
Requirement = Annotated[str, StringConstraints(pattern=_REQUIREMENT)]
EnvironmentName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_]\w*$")]
AptPackage = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9+.-]+$")]
Url = Annotated[str, StringConstraints(pattern=r"^(https?|file)://\S+$")]
BackendName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]


class BackendsError(UsageFault, ValueError):
    """backends.yaml is missing or wrong; the message is one line: file, line, key, what to do."""


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Image(_Record):
    """What an image of this backend is made from."""

    base: str | None
    """Reference of the base image; None where none is public and `--base` must name it."""
    apt: tuple[AptPackage, ...] = ()
    """Debian packages that the image needs at run time beyond the base."""
    tag: str = ""
    """Name of the finished image; `bench-runner/<backend>:latest` unless given."""


class DeviceRequest(_Record):
    """A Docker device request; the executor adds the id of the device that a job gets."""

    driver: str
    capabilities: tuple[str, ...]


class VisibleDevices(_Record):
    """Environment variables that choose devices, each with a comma-separated list of ids."""

    granted: EnvironmentName | None = None
    """Read by the container runtime: which devices enter the container, by the host's numbers."""
    narrowed: EnvironmentName | None = None
    """Read by the vendor's run time inside: which of those are used."""


class Container(_Record):
    """What a container needs so that its processes can reach the accelerator."""

    runtime: str | None = None
    devices: tuple[AbsolutePath, ...] = ()
    """Device nodes that every container gets."""
    device_nodes: tuple[AbsolutePath, ...] = ()
    """Device nodes of one accelerator, with `{id}` for its number."""
    host_device_nodes: tuple[AbsolutePath, ...] = ()
    """Device nodes that an image of the kind host needs, where no vendor's runtime adds them."""
    device_requests: tuple[DeviceRequest, ...] = ()
    mounts: tuple[AbsolutePath, ...] = ()
    """Host paths mounted read-only at the same place."""
    environment: dict[EnvironmentName, str] = Field(default_factory=dict)
    visible_devices: VisibleDevices = VisibleDevices()
    privileged: bool = False


class Profiler(_Record):
    """A profiler of the vendor's, or torch's."""

    name: Literal["torch", "ncu", "nsys", "mcu", "msprof", "ixkn"]


class Profile(_Record):
    """Profilers in order of preference; those that the harness can drive are used and recorded."""

    profilers: tuple[Profiler, ...] = Field(min_length=1)


class Backend(_Record):
    """One entry of backends.yaml."""

    name: BackendName
    python: Annotated[str, StringConstraints(pattern=r"^(>=)?3\.\d+$")]
    """"3.12": exactly that minor version; ">=3.11": that or newer."""
    cmake_backend: Literal["CPU", "CUDA", "MUSA", "NPU", "IX"]
    packages: tuple[Requirement, ...] = Field(min_length=1)
    packages_after: tuple[Requirement, ...] = ()
    """Installed afterwards without their dependencies, because they overlay files of `packages`."""
    index: Url | None = None
    extra_indexes: tuple[Url, ...] = ()
    env: dict[EnvironmentName, str] = Field(default_factory=dict)
    """Variables that its processes need; `$NAME` refers to the value before."""
    env_source: AbsolutePath | None = None
    """A vendor's script to source before any process starts."""
    requires_path: AbsolutePath | None = None
    """The vendor's toolkit, where no env_source names it: its absence is refused up front."""
    image: Image
    container: Container = Container()
    profile: Profile

    @property
    def vendor(self) -> str:
        """The vendor's family: the name up to its last dash (`nvidia` of `nvidia-cuda133`)."""
        return self.name.rpartition("-")[0] or self.name

    def shell_environment(self) -> str:
        """Lines of shell that give a process the environment it needs; empty if it needs none."""
        source = f". {self.env_source}\n" if self.env_source else ""
        return source + "".join(f'export {name}="{value}"\n' for name, value in self.env.items())

    def pin(self, package: str) -> str | None:
        """The version of `package` that the table pins, or None."""
        for requirement in (*self.packages, *self.packages_after):
            name, separator, version = requirement.partition("==")
            if separator and name.replace("_", "-") == package:
                return version
        return None


class _Table(_Record):
    schema_version: Literal["bench-runner.backends/v1"]
    backends: dict[BackendName, Backend]


def default_path() -> Path:
    """The backends.yaml beside the packages: the checkout's, or the image's /opt/bench."""
    return Path(__file__).resolve().parent.parent / "backends.yaml"


def load_backends(path: Path | None = None) -> dict[str, Backend]:
    """Every backend of the table by name, in the table's order.

    `path` None means the file beside the packages. Raises BackendsError with one line.
    """
    path = path or default_path()
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise BackendsError(f"{path}: cannot be read: {error.strerror}") from error
    try:
        raw, root = read_yaml(text)
    except DuplicateKeyError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise BackendsError(f"{path}:{line}: {error.problem}") from error
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise BackendsError(f"{path}:{line}: not YAML: {error.problem}") from error
    if not isinstance(raw, dict):
        raise BackendsError(f"{path}:1: expected a mapping with schema_version and backends")
    entries = raw.get("backends")
    if isinstance(entries, dict):
        for name, entry in entries.items():
            _fill_defaults(name, entry)
    try:
        return _Table.model_validate(raw).backends
    except ValidationError as error:
        raise BackendsError(_one_line(path, root, error)) from error


def _fill_defaults(name: object, entry: object) -> None:
    """The two fields that follow from the key, so that the table need not repeat it."""
    if not isinstance(entry, dict):
        return
    entry.setdefault("name", name)
    image = entry.get("image")
    if isinstance(image, dict):
        image.setdefault("tag", f"bench-runner/{name}:latest")


def _one_line(path: Path, root: yaml.Node | None, error: ValidationError) -> str:
    """The first fault as `file:line: key: problem`, and how many more there are."""
    first = error.errors()[0]
    location = tuple(part for part in first["loc"] if part != "[key]")
    key = ".".join(str(part) for part in location)
    problem = first["msg"]
    if first["type"] == "extra_forbidden":
        problem = "unknown key; remove it or see docs/backends.md for the known ones"
    elif first["type"] == "missing":
        problem = "is missing; add it (docs/backends.md)"
    elif "input" in first and not isinstance(first["input"], (dict, list)):
        problem = f"{problem}, got {first['input']!r}"
    more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
    return f"{path}:{line_of(root, location)}: {key}: {problem}{more}"
