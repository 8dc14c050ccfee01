# SPDX-License-Identifier: Apache-2.0
"""Talks to the container engine: builds an image through BuildKit, lists the images that exist.

docker-py cannot drive BuildKit, so the build is a subprocess; the rest goes through docker-py.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import asdict, dataclass
from typing import Any

from bench_runner.backends import Backend
from bench_runner.errors import InfrastructureFault
from bench_runner.images.build_plan import BuildPlan
from bench_runner.images.labels import BACKEND_LABEL, RECIPE_LABEL, SUITE_LABEL


class EngineError(InfrastructureFault, RuntimeError):
    """The engine is absent or refused; the message is one line that says what to do."""


@dataclass(frozen=True)
class BuiltImage:
    """An image of this project that the engine holds."""

    backend: str
    tag: str
    id: str
    size: int
    """Bytes on disk, layers shared with other images included."""
    created: str
    """RFC 3339, as the engine reports it."""
    suite: str
    recipe: str

    def as_json(self, suite: str | None) -> dict[str, Any]:
        """Its fields, and whether it holds the suite with fingerprint `suite`."""
        return {**asdict(self), "current": None if suite is None else self.suite == suite}


def require_buildx() -> None:
    """Raise EngineError unless a Docker engine answers and BuildKit's client is there."""
    if shutil.which("docker") is None:
        raise EngineError("no docker command; `make docker` brings up an engine, or install Docker")
    for command, lack in (
        (["docker", "version"], "no Docker engine answers; run `make docker` or start dockerd"),
        (["docker", "buildx", "version"], "docker has no buildx plugin; run `make docker`"),
    ):
        if subprocess.run(command, capture_output=True, check=False).returncode != 0:
            raise EngineError(lack)


def require_base(base: str) -> None:
    """Raise EngineError unless `base` is here or can be pulled."""
    inspect = ["docker", "image", "inspect", base]
    if subprocess.run(inspect, capture_output=True, check=False).returncode == 0:
        return
    pull = subprocess.run(
        ["docker", "pull", "--quiet", base], capture_output=True, text=True, check=False
    )
    if pull.returncode != 0:
        reason = (pull.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise EngineError(
            f"base image {base} is not here and cannot be pulled: name another with --base, "
            f"or run `make docker`, which can make a Debian base itself ({reason})"
        )


def build(plan: BuildPlan) -> BuiltImage:
    """Build and tag the image; BuildKit's progress goes to stderr as it comes.

    Raises EngineError when the engine, the base or the build fails.
    """
    require_buildx()
    require_base(plan.base)
    finished = subprocess.run(plan.command(), stdout=sys.stderr, check=False)
    if finished.returncode != 0:
        raise EngineError(
            f"the build of {plan.tag} failed with exit code {finished.returncode}; "
            "the step that failed is above (docs/images.md lists the usual causes)"
        )
    return next(image for image in list_images([plan.backend]) if image.tag == plan.tag)


def import_host_image(backend: Backend, tag: str | None) -> str:
    """Makes the image of the kind host for `backend`; answers its tag.

    Raises EngineError without an engine.
    """
    import docker
    from docker.errors import DockerException

    from bench_runner.images import host_image

    tag = tag or backend.image.tag
    try:
        host_image.import_image(docker.from_env(), backend, tag)
    except DockerException as error:
        raise EngineError(f"the engine does not take the image: {error}") from error
    return tag


def list_images(backends: list[str]) -> list[BuiltImage]:
    """The project's images of these backends, by tag. Raises EngineError without an engine."""
    import docker
    from docker.errors import DockerException

    try:
        client = docker.from_env()
        images = client.images.list(filters={"label": BACKEND_LABEL})
    except DockerException as error:
        raise EngineError("no Docker engine answers; run `make docker` or start dockerd") from error
    found = [
        BuiltImage(
            backend=image.labels[BACKEND_LABEL],
            tag=tag,
            id=image.id or "",
            size=image.attrs["Size"],
            created=image.attrs["Created"],
            suite=image.labels.get(SUITE_LABEL, ""),
            recipe=image.labels.get(RECIPE_LABEL, ""),
        )
        for image in images
        for tag in image.tags
        if image.labels[BACKEND_LABEL] in backends
    ]
    return sorted(found, key=lambda image: image.tag)
