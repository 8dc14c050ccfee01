# SPDX-License-Identifier: Apache-2.0
"""Real builds: another tag from the layers that are there, and faults that end in one line."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from dataclasses import replace
from pathlib import Path

import docker
import pytest

from bench_runner.backends import load_backends
from bench_runner.images.build_plan import BuildOptions, plan_build
from bench_runner.images.check import expand, problems
from bench_runner.images.engine import EngineError
from bench_runner.images.indexes import Indexes
from bench_runner.suite import suite_fingerprint, suite_root

ROOT = Path(__file__).resolve().parents[3]


def build(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    code = "from bench_runner.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, "images", "build", *arguments],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        env={**os.environ, **variables},
    )


@pytest.mark.docker
def test_the_image_builds_under_a_tag_of_ones_own(docker_client: docker.DockerClient):
    tag = f"bench-runner-test/cpu:{uuid.uuid4().hex[:12]}"
    result = build("cpu", "--host-pip", "--tag", tag)
    try:
        assert result.returncode == 0, result.stderr[-3000:]
        assert result.stdout.splitlines() == [tag]
        image = docker_client.images.get(tag)
        assert image.labels["io.bench-runner.suite"] == suite_fingerprint(suite_root())
        assert image.attrs["Config"]["User"] == "65532:65532"
        assert image.attrs["Config"]["WorkingDir"] == "/opt/bench"
        # A secret must be nowhere in what is shipped.
        history = str(image.history())
        assert "BEGIN CERTIFICATE" not in history
    finally:
        if docker_client.images.list(tag):
            docker_client.images.remove(tag)


def test_an_absent_base_is_one_line(docker_engine: docker.DockerClient):
    # Port 1 of this machine: nothing listens, so the pull fails at once and touches no network.
    result = build("cpu", "--base", "127.0.0.1:1/none:1", "--extra-index", "http://127.0.0.1:1/")
    assert result.returncode == 3
    last = result.stderr.splitlines()[-1]
    assert last.startswith("bench-runner: base image 127.0.0.1:1/none:1 is not here")
    assert "--base" in last
    assert "Traceback" not in result.stderr


def test_a_base_with_the_wrong_python_is_refused_by_the_build(docker_client: docker.DockerClient):
    base = load_backends()["cpu"].image.base
    assert base is not None
    result = build("nvidia-cuda133", "--base", base, "--extra-index", "http://127.0.0.1:1/",
                   "--tag", "bench-runner-test/wrong:1")  # fmt: skip
    assert result.returncode == 3
    assert "the backend needs 3.12: choose another --base" in result.stderr
    assert result.stderr.splitlines()[-1].startswith("bench-runner: the build of ")


def test_no_engine_is_one_line(tmp_path: Path):
    result = build(
        "cpu", "--extra-index", "http://127.0.0.1:1/", DOCKER_HOST=f"unix://{tmp_path}/none.sock"
    )
    assert result.returncode == 3
    last = result.stderr.splitlines()[-1]
    assert "make docker" in last
    assert "Traceback" not in result.stderr


def test_make_docker_is_idempotent_where_all_is_there(docker_client: docker.DockerClient):
    result = subprocess.run(
        ["bash", str(ROOT / "scripts" / "engine.sh")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    version = docker_client.version()["Version"]
    assert result.stderr.splitlines() == [f"engine.sh: engine {version} answers"]


def test_check_expands_the_dockerfile_for_every_backend_and_builds_nothing(
    docker_engine: docker.DockerClient,
):
    before = {image.id for image in docker_engine.images.list(all=True)}
    result = build("--check", "--extra-index", "https://e/simple")
    assert result.returncode == 0, result.stderr
    lines = dict(line.split(": ", 1) for line in result.stdout.splitlines())
    assert set(lines) == set(load_backends())
    assert all("secrets ca_bundle, pip_conf" in text for text in lines.values())
    assert {image.id for image in docker_engine.images.list(all=True)} == before


def test_check_finds_an_argument_that_the_dockerfile_does_not_take(
    docker_engine: docker.DockerClient, tmp_path: Path
):
    text = (ROOT / "Dockerfile").read_text()
    (tmp_path / "Dockerfile").write_text(text.replace("ARG EXTRA_INDEXES", "ARG MORE_INDEXES=x"))
    cpu = load_backends()["cpu"]
    plan = plan_build(cpu, BuildOptions(), Indexes(None, ()), ROOT, "0" * 64)
    assert problems(plan, expand(plan)) == []
    spoilt = replace(plan, root=tmp_path)
    assert problems(spoilt, expand(spoilt)) == [
        "the Dockerfile has no argument EXTRA_INDEXES",
        "nothing gives the argument MORE_INDEXES",
    ]
    (tmp_path / "Dockerfile").write_text(text.replace("ARG RECIPE", "ARGUMENT RECIPE"))
    with pytest.raises(EngineError, match="unknown instruction: ARGUMENT"):
        expand(spoilt)
