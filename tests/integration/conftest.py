# SPDX-License-Identifier: Apache-2.0
"""Lends tests a real engine or skips them aloud; BENCH_REQUIRE_DOCKER=1 makes that a failure.

`docker_engine`: an engine that answers. `docker_client`: the same, with the CPU image of this very
suite on it; every test marked `docker` gets it, named or not.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import NoReturn

import docker
import pytest
from docker.errors import DockerException, ImageNotFound

from bench_runner.backends import load_backends
from bench_runner.images.labels import SUITE_LABEL
from bench_runner.suite import suite_fingerprint, suite_root


def _lacking(what: str) -> NoReturn:
    if os.environ.get("BENCH_REQUIRE_DOCKER", "0") not in ("", "0"):
        pytest.fail(f"{what}, and BENCH_REQUIRE_DOCKER is set", pytrace=False)
    pytest.skip(what)


@pytest.fixture(scope="session")
def lacking() -> Callable[[str], NoReturn]:
    """Skips aloud what an engine's machine lacks, or fails where BENCH_REQUIRE_DOCKER is set."""
    return _lacking


@pytest.fixture(scope="session")
def docker_engine() -> Iterator[docker.DockerClient]:
    """A client of an engine that answers."""
    try:
        client = docker.from_env()
        client.ping()
    except DockerException:
        _lacking("no Docker engine answers (make docker)")
    yield client
    client.close()


@pytest.fixture(scope="session")
def docker_client(docker_engine: docker.DockerClient) -> docker.DockerClient:
    """A client of an engine that holds the CPU image with this checkout's suite."""
    tag = load_backends()["cpu"].image.tag
    try:
        image = docker_engine.images.get(tag)
    except ImageNotFound:
        _lacking(f"image {tag} is not there (make docker)")
    if image.labels.get(SUITE_LABEL) != suite_fingerprint(suite_root()):
        _lacking(f"image {tag} holds another suite than this checkout's (make docker)")
    return docker_engine


@pytest.fixture(autouse=True)
def _docker_where_marked(request: pytest.FixtureRequest) -> None:
    if request.node.get_closest_marker("docker"):
        request.getfixturevalue("docker_client")
