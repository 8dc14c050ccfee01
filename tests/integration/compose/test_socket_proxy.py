# SPDX-License-Identifier: Apache-2.0
"""The socket proxy before a real engine: the runner's jobs pass, ways to root do not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import docker
import pytest
from docker.errors import APIError

from bench_runner.backends import load_backends
from bench_runner.executors.labels import RUN_LABEL

pytestmark = pytest.mark.docker
BASE = load_backends()["cpu"].image.base
JOB_IMAGE = load_backends()["cpu"].image.tag
EXAMPLE = Path(__file__).parents[3] / "examples" / "candidates" / "softmax_online.py"


@dataclass(frozen=True)
class Gate:
    """A running proxy, a client that has nothing else, and one that has the engine itself."""

    socket: Path
    client: docker.DockerClient
    engine: docker.DockerClient
    volume: str
    root: Path
    log: Path

    @property
    def environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "DOCKER_HOST": f"unix://{self.socket}",
            "BENCH_RUNS_VOLUME": f"{self.volume}:{self.root}",
        }


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    folder = tmp_path_factory.mktemp("gate")
    socket, log = folder / "s", folder / "log"
    engine = docker.from_env()
    volume = engine.volumes.create(f"bench-test-{uuid.uuid4().hex[:8]}")
    root = Path(volume.attrs["Mountpoint"])
    environment = {
        **os.environ,
        "BENCH_PROXY_SOCKET": str(socket),
        "BENCH_RUNS_VOLUME": f"{volume.name}:{root}",
    }
    command = [sys.executable, "-m", "bench_runner.socket_proxy"]
    with log.open("wb") as stream:
        proxy = subprocess.Popen(command, env=environment, stderr=stream)
    deadline = time.monotonic() + 60
    while not socket.exists():
        assert proxy.poll() is None, log.read_text()
        assert time.monotonic() < deadline
        time.sleep(0.05)
    client = docker.DockerClient(base_url=f"unix://{socket}", version="1.45")
    yield Gate(socket, client, engine, volume.name, root, log)
    client.close()
    proxy.terminate()
    assert proxy.wait(30) == 0
    volume.remove(force=True)
    engine.close()


@pytest.fixture
def stranger(gate: Gate) -> Iterator[str]:
    """A container that is somebody else's."""
    container = gate.engine.containers.create(BASE, ["sleep", "60"])
    yield container.id
    container.remove(force=True)


def test_the_runner_works_through_it(gate: Gate, docker_client: docker.DockerClient) -> None:
    if not os.access(gate.root, os.W_OK):
        pytest.skip("the volume's folder is open to root alone")
    command = [sys.executable, "-m", "bench_runner", "run", "--op", "softmax", "--candidate"]
    command += [f"{EXAMPLE}:softmax", "--modes", "preflight", "--executor", "docker"]
    command += ["--runs-dir", str(gate.root / "runs"), "--format", "json"]
    done = subprocess.run(
        command, env=gate.environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr + gate.log.read_text()
    [job] = json.loads(done.stdout)["jobs"]
    assert job["verdict"]["status"] == "PASSED"
    assert "refused" not in gate.log.read_text()


def test_a_runs_folder_outside_the_volume_is_one_clear_line(gate: Gate, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "bench_runner", "run", "--op", "softmax", "--candidate"]
    command += [f"{EXAMPLE}:softmax", "--modes", "preflight", "--executor", "docker"]
    command += ["--runs-dir", str(tmp_path)]
    done = subprocess.run(
        command, env=gate.environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 3
    assert f"put --runs-dir under {gate.root}" in done.stderr
    assert "Traceback" not in done.stderr


def _refused(call: object, *arguments: object, **options: object) -> None:
    with pytest.raises(APIError) as caught:
        call(*arguments, **options)  # type: ignore[operator]
    assert caught.value.status_code == 403
    assert "socket proxy refuses" in str(caught.value.explanation)


def test_privileged_create(gate: Gate) -> None:
    _refused(gate.client.containers.create, JOB_IMAGE, ["true"], privileged=True)


def test_foreign_bind_mount(gate: Gate) -> None:
    _refused(gate.client.containers.create, JOB_IMAGE, ["true"], volumes=["/:/host"])


def test_a_link_planted_in_the_volume_leads_nowhere(gate: Gate) -> None:
    """What a runner that was taken over could try: its volume, a link to /, a legal mount."""
    job = gate.root / "runs" / "r" / "jobs"
    job.mkdir(parents=True, exist_ok=True)
    (job / "out").symlink_to("/")
    api = gate.client.api
    mount = docker.types.Mount("/out", gate.volume, no_copy=True, subpath="runs/r/jobs/out")
    host = api.create_host_config(
        mounts=[mount], network_mode="none", read_only=True, cap_drop=["ALL"],
        security_opt=["no-new-privileges"], mem_limit=1 << 28, memswap_limit=1 << 28,
        pids_limit=16, ipc_mode="private",
    )  # fmt: skip
    created = api.create_container(
        JOB_IMAGE, ["ls", "/out"], user="65532:65532", host_config=host,
        labels={RUN_LABEL: f"volume:{gate.volume}/runs/r"},
    )  # fmt: skip
    try:
        # The proxy lets it pass; the engine resolves the link inside the volume, and fails.
        with pytest.raises(APIError):
            api.start(created["Id"])
    finally:
        api.remove_container(created["Id"], force=True)


def test_an_image_that_is_not_the_projects(gate: Gate) -> None:
    _refused(gate.client.images.get, BASE)


def test_exec_archive_and_logs_of_a_stranger(gate: Gate, stranger: str) -> None:
    api = gate.client.api
    _refused(api.exec_create, stranger, ["sh"])
    _refused(api.get_archive, stranger, "/etc/passwd")
    _refused(lambda: next(api.export(stranger)))
    _refused(api.logs, stranger)
    _refused(api.inspect_container, stranger)
    _refused(api.start, stranger)
    _refused(api.kill, stranger)
    _refused(api.remove_container, stranger, force=True)


def test_lists_show_the_projects_containers_alone(gate: Gate, stranger: str) -> None:
    _refused(gate.client.containers.list)
    own = gate.client.api.containers(all=True, filters={"label": RUN_LABEL})
    assert stranger not in [container["Id"] for container in own]


def test_the_rest_of_the_engine(gate: Gate) -> None:
    api = gate.client.api
    _refused(api.info)
    _refused(api.volumes)
    _refused(api.create_volume, "x")
    _refused(api.pull, "x")
    _refused(api.images)
    _refused(api.create_network, "x")
    _refused(api.commit, "x")


def test_the_engines_own_no_is_passed_on(gate: Gate) -> None:
    with pytest.raises(APIError) as caught:
        gate.client.api.inspect_container("nosuchcontainer")
    assert caught.value.status_code == 404


def test_two_requests_in_one_write_are_two_requests(gate: Gate) -> None:
    """A second request hidden in the first one's body or behind it is judged like any other."""
    import socket as sockets

    hidden = b"POST /v1.45/containers/create HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}"
    with sockets.socket(sockets.AF_UNIX) as connection:
        connection.settimeout(30)
        connection.connect(str(gate.socket))
        connection.sendall(b"GET /_ping HTTP/1.1\r\nHost: x\r\n\r\n" + hidden)
        answer = b""
        while answer.count(b"HTTP/1.1 ") < 2:
            answer += connection.recv(65536)
    assert answer.startswith(b"HTTP/1.1 200")
    assert b"HTTP/1.1 403" in answer
