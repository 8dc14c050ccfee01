# SPDX-License-Identifier: Apache-2.0
"""A job in an empty image, on this machine's own system folders, in a real container."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from pathlib import Path

import docker
import pytest

from bench_runner.backends import load_backends
from bench_runner.catalogue import read_catalogue
from bench_runner.contract.job import Settings
from bench_runner.contract.outcome import Ending
from bench_runner.executors.docker import DockerExecutor
from bench_runner.executors.inputs import make_launch, place, write_baseline_inputs
from bench_runner.images import host_image
from bench_runner.suite import suite_fingerprint, suite_root

pytestmark = pytest.mark.docker


@pytest.fixture
def executor(docker_engine: docker.DockerClient) -> Iterator[DockerExecutor]:
    tag = f"bench-runner/host-test:{uuid.uuid4().hex[:8]}"
    cpu = load_backends()["cpu"]
    host_image.import_image(docker_engine, cpu, tag)
    image = cpu.image.model_copy(update={"tag": tag})
    yield DockerExecutor(cpu.model_copy(update={"image": image}))
    docker_engine.images.remove(tag, force=True)


def test_a_job_runs_on_the_machines_own_software(executor: DockerExecutor, tmp_path: Path) -> None:
    settings = Settings(timeout_s=300)
    launch = make_launch(executor, "job", tmp_path, tmp_path / "job", settings, profiling=False)
    operator = read_catalogue(suite_root())["softmax"]
    place(write_baseline_inputs("reference", operator, settings), launch.inputs)
    outcome = executor.submit(launch).wait()
    assert (outcome.ending, outcome.exit_code) == (Ending.EXITED, 0), launch.log.read_text()
    assert "the machine's system folders, read-only" in outcome.privileges
    report = json.loads((launch.outputs / "report.json").read_text())
    assert {record["status"] for record in report["records"]} == {"PASSED"}
    assert executor.image_suite == suite_fingerprint(suite_root())


def test_a_job_sees_neither_etc_nor_other_runs(executor: DockerExecutor) -> None:
    targets = [to for _, to in host_image.mounts(suite_root())]
    assert "/etc" not in targets
    assert not [to for to in targets if to.startswith("/home") or "runs" in to.split("/")]
    assert not [to for to in targets if to == str(suite_root())]


def test_a_job_can_write_to_tmp(
    executor: DockerExecutor, docker_engine: docker.DockerClient
) -> None:
    binds = [
        docker.types.Mount(path, path, "bind", read_only=True)
        for path, _ in host_image.mounts(suite_root())
        if path in host_image.SYSTEM
    ]
    docker_engine.containers.run(
        executor.backend.image.tag,
        ["/bin/sh", "-c", "echo something > /tmp/file"],
        user="65532:65532",
        mounts=binds,
        tmpfs={"/tmp": "rw,mode=1777"},
        network_mode="none",
        read_only=True,
        remove=True,
    )
