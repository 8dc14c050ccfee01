# SPDX-License-Identifier: Apache-2.0
"""One locked-down container a job.

The container has no network, a read-only root, no capabilities, no way to new privileges, and
limits on memory, processes and files. It sees its inputs read-only at /in, writes to /out, and
has a private /tmp in memory, where Triton's cache is. Its standard input is held open by this
process: when the runner dies, the harness inside sees the end of it and ends too.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import docker
import docker.errors
import requests.exceptions
from docker.utils.socket import frames_iter

from bench_runner.backends import Backend
from bench_runner.contract.outcome import Ending, Outcome
from bench_runner.devices import Device, find_devices
from bench_runner.executors.capped_log import CappedLog
from bench_runner.executors.foreign_load import ForeignLoad
from bench_runner.executors.interface import ExecutorError, Launch
from bench_runner.executors.labels import RUN_LABEL
from bench_runner.executors.run_lock import is_held
from bench_runner.executors.storage import storage
from bench_runner.executors.watch import watch
from bench_runner.images import host_image
from bench_runner.images.labels import HOST_KIND, KIND_LABEL, SUITE_LABEL, VERSION_LABELS
from bench_runner.installed import installed_versions
from bench_runner.suite import suite_fingerprint, suite_root

UNPRIVILEGED = 65532
"""The user of the images; used whatever user root's containers would get."""
TMPFS_BYTES = 1 << 30
FILE_DESCRIPTORS = 4096
SETTLE_S = 30
"""For the engine to report the end of a container whose output has ended."""
ENGINE_ERRORS = (docker.errors.DockerException, requests.exceptions.RequestException, OSError)


def connect() -> docker.DockerClient:
    """A client of the local engine.

    Raises:
        ExecutorError: no engine answers, or it is on another machine, where bind mounts of this
            one's folders would not exist.
    """
    try:
        client = docker.from_env(timeout=60)
        client.ping()
    except ENGINE_ERRORS as error:
        raise ExecutorError(
            f"no Docker engine answers ({one_line(error)}); start one, or use --executor local"
        ) from error
    if not str(client.api.base_url).startswith(("http+docker://", "npipe://")):
        raise ExecutorError(
            f"the Docker engine at {client.api.base_url} is not on this machine; "
            "jobs mount folders of this machine, so unset DOCKER_HOST"
        )
    return client


def one_line(error: BaseException) -> str:
    explanation = getattr(error, "explanation", None) or str(error) or type(error).__name__
    return " ".join(str(explanation).split())[:300]


class DockerExecutor:
    """Runs jobs in containers of one backend's image.

    Raises:
        ExecutorError: no engine, or no image.
    """

    name = "docker"

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.client = connect()
        self.storage = storage()
        tag = backend.image.tag
        try:
            image = self.client.images.get(tag)
        except docker.errors.ImageNotFound as error:
            raise ExecutorError(
                f"image {tag} is not there; build it: bench-runner images build {backend.name}"
            ) from error
        self.image = tag
        self.image_id = str(image.id)
        self._first = find_devices(backend.vendor)[0]
        self.on_host = image.labels.get(KIND_LABEL) == HOST_KIND
        self._root = suite_root()
        if self.on_host:
            self.image_suite = suite_fingerprint(self._root)
            self.image_versions = installed_versions()
            return
        self.image_suite = str(image.labels.get(SUITE_LABEL, ""))
        self.image_versions = {
            name: str(image.labels[label])
            for name, label in VERSION_LABELS.items()
            if label in image.labels
        }

    def device_of(self, launch: Launch) -> Device:
        return launch.device or self._first

    def environment(self, device: Device) -> dict[str, str]:
        """Variables of a job's process: where its device and its software are."""
        needs = self.backend.container
        chosen = needs.visible_devices
        variables = dict(needs.environment)
        if chosen.granted:
            variables[chosen.granted] = str(device.index)
        if chosen.narrowed:
            # Alone in its container, a device has the number 0.
            variables[chosen.narrowed] = str(device.index) if needs.privileged else "0"
        if self.on_host:
            variables.update(host_image.environment(self._root))
        return variables

    def inputs_seen_at(self, launch: Launch) -> str:
        return "/in"

    def submit(self, launch: Launch) -> DockerHandle:
        return DockerHandle(self, launch)

    def clear(self, run_folder: Path) -> None:
        found = self.client.api.containers(all=True, filters={"label": RUN_LABEL})
        for container in found:
            folder = self.storage.folder_of(container["Labels"].get(RUN_LABEL, ""))
            if folder is not None and (folder == run_folder or not is_held(folder)):
                with contextlib.suppress(docker.errors.APIError):
                    self.client.api.remove_container(container["Id"], force=True, v=True)

    def host_config(self, launch: Launch) -> tuple[dict[str, Any], tuple[str, ...]]:
        """The engine's host configuration, and what it grants beyond the locked-down default."""
        settings = launch.settings
        needs = self.backend.container
        device = self.device_of(launch)
        granted = grants(self.backend, device, self.on_host)
        own = host_image.mounts(self._root) if self.on_host else []
        temporary = min(TMPFS_BYTES, settings.memory_bytes)
        config = self.client.api.create_host_config(
            mounts=[
                self.storage.mount("/in", launch.inputs, read_only=True),
                self.storage.mount("/out", launch.outputs, read_only=False),
                *(docker.types.Mount(path, path, "bind", read_only=True) for path in needs.mounts),
                *(docker.types.Mount(to, path, "bind", read_only=True) for path, to in own),
            ],
            network_mode="none",
            read_only=True,
            cap_drop=["ALL"],
            security_opt=["no-new-privileges"],
            privileged=needs.privileged,
            runtime=needs.runtime,
            devices=[f"{node}:{node}:rwm" for node in granted.devices],
            device_requests=[
                docker.types.DeviceRequest(
                    driver=request.driver,
                    device_ids=[device.id],
                    capabilities=[list(request.capabilities)],
                )
                for request in (() if self.on_host else needs.device_requests)
            ],
            mem_limit=settings.memory_bytes,
            memswap_limit=settings.memory_bytes,
            pids_limit=settings.processes,
            ipc_mode="private",
            # Triton loads what it compiled from there, hence exec.
            tmpfs={"/tmp": f"rw,exec,nosuid,nodev,mode=1777,size={temporary}"},
            ulimits=[
                docker.types.Ulimit(name=name, soft=most, hard=most)
                for name, most in (
                    ("core", 0),
                    ("fsize", settings.output_bytes),
                    ("nofile", FILE_DESCRIPTORS),
                )
            ],
            # What the job prints is read from the attached stream; the engine keeps no copy.
            log_config=docker.types.LogConfig(type="none"),
        )
        return config, granted.words


@dataclass(frozen=True)
class Grants:
    """What a container gets beyond the locked-down default, and the words for the record."""

    devices: tuple[str, ...]
    words: tuple[str, ...]


def grants(backend: Backend, device: Device, on_host: bool) -> Grants:
    """What a backend's accelerator needs.

    Args:
        on_host: the image is of the kind host, over which no vendor's runtime puts device nodes.
    """
    needs = backend.container
    patterns = (*needs.device_nodes, *(needs.host_device_nodes if on_host else ()))
    devices = (*needs.devices, *(p.replace("{id}", str(device.node)) for p in patterns))
    words = [f"device {device}" for device in devices]
    if on_host:
        words.append("the machine's system folders, read-only")
    else:
        words += [f"device request {request.driver}" for request in needs.device_requests]
    words += [f"runtime {needs.runtime}"] if needs.runtime else []
    words += ["privileged"] if needs.privileged else []
    return Grants(devices, tuple(words))


def user_of_containers(outputs: Path) -> str:
    """The user that a job runs as: never root. Hands it the folder that it has to write to."""
    if os.getuid() != 0:
        return f"{os.getuid()}:{os.getgid()}"
    os.chown(outputs, UNPRIVILEGED, UNPRIVILEGED)
    return f"{UNPRIVILEGED}:{UNPRIVILEGED}"


class DockerHandle:
    """One container, from create to remove."""

    def __init__(self, executor: DockerExecutor, launch: Launch) -> None:
        self._executor = executor
        self._launch = launch
        self._cancelled = threading.Event()
        # A client of its own: requests' sessions are not made for several threads.
        version = executor.client.api.api_version
        self._api = docker.from_env(version=version, timeout=60).api
        self._id: str | None = None
        self._privileges: tuple[str, ...] = ()
        self._load: ForeignLoad | None = None

    def kill(self) -> None:
        self._cancelled.set()

    def wait(self) -> Outcome:
        submitted = time.time()
        ending, code, detail = Ending.INFRASTRUCTURE, None, ""
        try:
            ending, code, detail = self._run()
        except ENGINE_ERRORS as error:
            detail = f"Docker engine: {one_line(error)}"
        try:
            self._remove()
        except ENGINE_ERRORS as error:
            ending, detail = Ending.INFRASTRUCTURE, f"removing the container: {one_line(error)}"
        finally:
            self._api.close()
        cores = self._load.cores if self._load else None
        return Outcome(ending, submitted, time.time(), code, detail, self._privileges, cores)

    def _run(self) -> tuple[Ending, int | None, str]:
        launch = self._launch
        host_config, self._privileges = self._executor.host_config(launch)
        environment = {
            **self._executor.environment(self._executor.device_of(launch)),
            "BENCH_LIFELINE": "1",
            "HOME": "/tmp",
            "TRITON_CACHE_DIR": "/tmp/triton",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        created = self._api.create_container(
            self._executor.image_id,
            ["python", "-m", "bench_runner.harness", "/in/job.json", "/out"],
            name=launch.name,
            user=user_of_containers(launch.outputs),
            environment=environment,
            stdin_open=True,
            host_config=host_config,
            labels={RUN_LABEL: self._executor.storage.owner(launch.run_folder)},
        )
        self._id = container = created["Id"]
        streams = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
        attached = self._api.attach_socket(container, params=streams)
        with CappedLog(launch.log) as log:
            reader = threading.Thread(target=copy_output, args=(attached, log), daemon=True)
            reader.start()
            self._api.start(container)
            self._load = load = ForeignLoad(lambda: container_cpu_s(self._api, container))
            ending = watch(
                finished=lambda seconds: self._gone(container, reader, seconds),
                cancelled=self._cancelled,
                timeout_s=launch.settings.timeout_s,
                written=(launch.outputs,),
                output_bytes=launch.settings.output_bytes,
                sample=load.sample,
            )
            if ending is not Ending.EXITED:
                # It may have ended by itself meanwhile; the engine calls killing it a conflict.
                with contextlib.suppress(docker.errors.APIError):
                    self._api.kill(container)
            code = int(self._api.wait(container, timeout=SETTLE_S)["StatusCode"])
            reader.join(SETTLE_S)
        attached.close()
        state = self._api.inspect_container(container)["State"]
        if ending is Ending.EXITED and state["OOMKilled"]:
            ending = Ending.OOM
        return ending, code, state.get("Error", "")

    def _gone(self, container: str, reader: threading.Thread, seconds: float) -> bool:
        """The end of the output is the end of the container, unless the stream broke."""
        reader.join(seconds)
        if reader.is_alive():
            return False
        running = bool(self._api.inspect_container(container)["State"]["Running"])
        if running:
            time.sleep(seconds)
        return not running

    def _remove(self) -> None:
        if self._id is not None:
            with contextlib.suppress(docker.errors.NotFound):
                self._api.remove_container(self._id, force=True, v=True)


def container_cpu_s(api: docker.APIClient, container: str) -> float | None:
    """Processor seconds of a container so far; None when it is gone."""
    try:
        statistics = api.stats(container, stream=False, one_shot=True)
        return int(statistics["cpu_stats"]["cpu_usage"]["total_usage"]) / 1e9
    except (docker.errors.APIError, KeyError):
        return None


def copy_output(attached: Any, log: CappedLog) -> None:
    """Reads the attached stream to its end. A broken stream ends it too: ``_gone`` then looks."""
    with contextlib.suppress(OSError, ValueError):
        for _, data in frames_iter(attached, tty=False):  # type: ignore[no-untyped-call]
            log.write(data)
