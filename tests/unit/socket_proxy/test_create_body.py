# SPDX-License-Identifier: Apache-2.0
"""What the proxy lets a container be: the executor's own request and nothing more."""

from __future__ import annotations

import contextlib
import copy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import docker
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench_runner.backends import load_backends
from bench_runner.contract.job import Settings
from bench_runner.devices import Device
from bench_runner.executors.docker import DockerExecutor
from bench_runner.executors.interface import Launch
from bench_runner.executors.labels import RUN_LABEL
from bench_runner.executors.storage import VolumeStorage
from bench_runner.socket_proxy.create_body import Refused, check_create
from bench_runner.socket_proxy.policy import Policy, policy_of

VOLUME = "bench_runs"
CONTAINABLE = [b for b in load_backends().values() if not b.container.privileged]


def body_of(backend: Any, profiling: bool = False) -> dict[str, Any]:
    """The create request of a job, made by the executor itself."""
    executor = DockerExecutor.__new__(DockerExecutor)
    executor.backend = backend
    executor.on_host = False
    executor.storage = VolumeStorage(VOLUME, Path("/runs"))
    api = docker.APIClient(base_url="unix:///nowhere", version="1.45")
    executor.client = SimpleNamespace(api=api)
    run = Path("/runs/20260101-000000-abcd")
    launch = Launch(
        "bench-job",
        run,
        run / "jobs" / "a",
        Settings(),
        profiling,
        Device("GPU-3", 3, 3, "a device"),
    )
    host_config, _ = executor.host_config(launch)
    return {
        "Image": "sha256:" + "0" * 64,
        "Cmd": ["python", "-m", "bench_runner.harness", "/in/job.json", "/out"],
        "Env": ["HOME=/tmp"],
        "User": "65532:65532",
        "OpenStdin": True,
        "Labels": {RUN_LABEL: executor.storage.owner(run)},
        "HostConfig": dict(host_config),
    }


@pytest.fixture(scope="module")
def policy() -> Policy:
    return policy_of(VOLUME, CONTAINABLE)


@pytest.mark.parametrize("profiling", [False, True])
@pytest.mark.parametrize("backend", CONTAINABLE, ids=lambda backend: backend.name)
def test_every_job_of_every_containable_backend_passes(
    backend: Any, profiling: bool, policy: Policy
) -> None:
    check_create(body_of(backend, profiling), policy)


def test_a_backend_that_needs_privileged_containers_cannot_be_allowed() -> None:
    privileged = [b for b in load_backends().values() if b.container.privileged]
    assert privileged
    with pytest.raises(ValueError, match="privileged"):
        policy_of(VOLUME, privileged)


HOST_DAMAGE: list[tuple[str, Any]] = [
    ("Privileged", True),
    ("Privileged", 1),
    ("privileged", True),
    ("Binds", ["/:/host"]),
    ("VolumesFrom", ["another"]),
    ("NetworkMode", "host"),
    ("NetworkMode", "bridge"),
    ("NetworkMode", "container:another"),
    ("PidMode", "host"),
    ("UTSMode", "host"),
    ("IpcMode", "host"),
    ("UsernsMode", "host"),
    ("CgroupnsMode", "host"),
    ("CgroupParent", "/"),
    ("CapAdd", ["SYS_PTRACE"]),
    ("CapAdd", "ALL"),
    ("CapDrop", []),
    ("CapDrop", ["all", "ALL"]),
    ("SecurityOpt", ["seccomp=unconfined"]),
    ("SecurityOpt", []),
    ("ReadonlyRootfs", False),
    ("ReadonlyPaths", ["/x"]),
    ("MaskedPaths", ["/x"]),
    ("Runtime", "runc-of-mine"),
    ("Runtime", ["mthreads"]),
    ("Devices", [{"PathOnHost": "/dev/sda", "PathInContainer": "/dev/sda"}]),
    ("Devices", [{"PathOnHost": "/dev/davinci0", "PathInContainer": "/dev/mem"}]),
    ("Devices", [{"PathOnHost": "/dev/davinci0/../x", "PathInContainer": "/dev/davinci0/../x"}]),
    ("DeviceCgroupRules", ["a *:* rwm"]),
    ("DeviceRequests", [{"Driver": "cdi", "DeviceIDs": ["x"]}]),
    ("DeviceRequests", [{"Driver": "nvidia", "Count": -1}]),
    ("Sysctls", {"kernel.shm_rmid_forced": "1"}),
    ("Memory", 0),
    ("Memory", 1 << 50),
    ("PidsLimit", -1),
    ("PidsLimit", None),
    ("Tmpfs", {"/etc": "rw"}),
    ("Tmpfs", {"/tmp": "rw,mode=/x"}),
    ("Ulimits", [{"Name": "rtprio", "Soft": 99, "Hard": 99}]),
    ("LogConfig", {"Type": "syslog", "Config": {"syslog-address": "udp://a"}}),
    ("RestartPolicy", {"Name": "always"}),
    ("AutoRemove", True),
    ("OomScoreAdj", -1000),
    ("GroupAdd", ["0"]),
    ("ExtraHosts", ["a:1"]),
    ("PortBindings", {"80/tcp": [{"HostPort": "80"}]}),
    ("AFieldOfTheNextRelease", "x"),
]  # fmt: skip


@pytest.mark.parametrize(("field", "value"), HOST_DAMAGE, ids=lambda part: str(part)[:40])
def test_anything_more_than_a_job_needs_is_refused(field: str, value: Any, policy: Policy) -> None:
    body = body_of(load_backends()["cpu"])
    body["HostConfig"][field] = value
    with pytest.raises(Refused):
        check_create(body, policy)


RUNS = f"volume:{VOLUME}/"
MOUNT_DAMAGE: list[dict[str, Any]] = [
    {"Type": "bind", "Source": "/", "Target": "/in", "ReadOnly": True},
    {"Type": "bind", "Source": "/var/run/docker.sock", "Target": "/out"},
    {"Type": "bind", "Source": ["/usr/local/dcmi"], "Target": "/in", "ReadOnly": True},
    {"Type": "bind", "Source": "/usr/local/dcmi", "Target": "/usr/local/dcmi"},
    {"Type": "volume", "Source": "another", "Target": "/in", "ReadOnly": True,
     "VolumeOptions": {"Subpath": "a/b/c"}},
    {"Type": "volume", "Source": VOLUME, "Target": "/in", "ReadOnly": True},
    {"Type": "volume", "Source": VOLUME, "Target": "/in", "ReadOnly": True,
     "VolumeOptions": {"Subpath": ""}},
    {"Type": "volume", "Source": VOLUME, "Target": "/in", "ReadOnly": True,
     "VolumeOptions": {"Subpath": "a"}},
    {"Type": "volume", "Source": VOLUME, "Target": "/in", "ReadOnly": True,
     "VolumeOptions": {"Subpath": "a/../../b"}},
    {"Type": "volume", "Source": VOLUME, "Target": "/in",
     "VolumeOptions": {"Subpath": "a/b/c"}},
    {"Type": "volume", "Source": VOLUME, "Target": "/usr",
     "VolumeOptions": {"Subpath": "a/b/c"}},
    {"Type": "volume", "Source": VOLUME, "Target": "/out",
     "VolumeOptions": {"Subpath": "a/b/c", "DriverConfig": {"Name": "local"}}},
    {"Type": "tmpfs", "Target": "/x"},
    {"Type": "npipe", "Source": "x", "Target": "/x"},
]  # fmt: skip


@pytest.mark.parametrize("mount", MOUNT_DAMAGE, ids=str)
def test_a_mount_beyond_the_jobs_folders_is_refused(mount: dict[str, Any], policy: Policy) -> None:
    body = body_of(load_backends()["cpu"])
    body["HostConfig"]["Mounts"] = [mount]
    with pytest.raises(Refused):
        check_create(body, policy)


TOP_DAMAGE: list[tuple[str, Any]] = [
    ("User", ""),
    ("User", "0"),
    ("User", "0:0"),
    ("User", "root"),
    ("User", "65532:0"),
    ("Entrypoint", ["/bin/sh"]),
    ("Labels", {}),
    ("Labels", {RUN_LABEL: "/somewhere/of/the/machine"}),
    ("Labels", {RUN_LABEL: RUNS + "a", "com.docker.compose.project": "bench"}),
    ("Volumes", {"/x": {}}),
    ("NetworkingConfig", {"EndpointsConfig": {"bridge": {}}}),
    ("hostconfig", {"Privileged": True}),
    ("Healthcheck", {"Test": ["CMD", "x"]}),
    ("Image", ""),
    ("HostConfig", None),
    ("HostConfig", []),
]


@pytest.mark.parametrize(("field", "value"), TOP_DAMAGE, ids=lambda part: str(part)[:40])
def test_the_body_itself_is_held_to_a_job(field: str, value: Any, policy: Policy) -> None:
    body = body_of(load_backends()["cpu"])
    body[field] = value
    with pytest.raises(Refused):
        check_create(body, policy)


@pytest.mark.parametrize("name", ["NetworkMode", "ReadonlyRootfs", "CapDrop", "SecurityOpt",
                                  "Memory", "PidsLimit", "IpcMode"])  # fmt: skip
def test_a_limit_that_is_left_out_is_refused(name: str, policy: Policy) -> None:
    body = body_of(load_backends()["cpu"])
    del body["HostConfig"][name]
    with pytest.raises(Refused, match=name):
        check_create(body, policy)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)


@given(st.data())
def test_no_value_of_any_shape_crashes_the_judge(data: st.DataObject) -> None:
    policy = policy_of(VOLUME, CONTAINABLE)
    body = copy.deepcopy(body_of(load_backends()["cpu"]))
    part = data.draw(st.sampled_from([body, body["HostConfig"]]))
    name = data.draw(st.sampled_from(sorted(part)))
    part[name] = data.draw(ANYTHING)
    with contextlib.suppress(Refused):
        check_create(body, policy)
