# SPDX-License-Identifier: Apache-2.0
"""The CPU image as it is really built: what it holds, who may write, and what it runs under."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import docker
import pytest
from docker.errors import ContainerError

from bench_runner.backends import load_backends
from bench_runner.suite import suite_fingerprint, suite_root

pytestmark = pytest.mark.docker

BACKEND = load_backends()["cpu"]
ANY_USER = 23456
"""A user that no image knows."""


def run_locked_down(client: docker.DockerClient, *command: str, **extra: Any) -> str:
    """stdout of `command` in the image, under the restrictions that jobs get."""
    settings: dict[str, Any] = {
        "network_mode": "none",
        "read_only": True,
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges"],
        "tmpfs": {"/tmp": ""},
        "mem_limit": "2g",
        "remove": True,
        **extra,
    }
    return client.containers.run(BACKEND.image.tag, list(command), **settings).decode()


def bench_runner(*arguments: str) -> subprocess.CompletedProcess[str]:
    code = "from bench_runner.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.parametrize("user", [None, f"{ANY_USER}:{ANY_USER}"])
def test_the_pinned_wheels_run_locked_down_as_any_user(docker_client, user):
    code = (
        "import getpass, json, os, numpy, torch, triton;"
        "print(json.dumps([torch.__version__, torch.version.cuda, triton.__version__,"
        "numpy.__version__, os.getuid(), getpass.getuser(), os.getcwd()]))"
    )
    found = json.loads(run_locked_down(docker_client, "python", "-c", code, user=user))
    assert found == [
        BACKEND.pin("torch"),
        None,
        BACKEND.pin("triton"),
        BACKEND.pin("numpy"),
        ANY_USER if user else 65532,
        "bench",
        "/opt/bench",
    ]


def test_it_holds_the_suite_that_its_label_names(docker_client):
    code = "from bench_runner.suite import *; print(suite_fingerprint(suite_root()))"
    inside = run_locked_down(docker_client, "python", "-c", code).strip()
    labels = docker_client.images.get(BACKEND.image.tag).labels
    assert inside == labels["io.bench-runner.suite"] == suite_fingerprint(suite_root())
    assert labels["io.bench-runner.torch"] == BACKEND.pin("torch")
    assert labels["org.opencontainers.image.revision"]


def test_no_job_can_write_into_the_suite_or_the_wheels(docker_client):
    # On a writable root file system too: ownership alone must do.
    code = (
        "import os; print([(root, name) for top in ('/opt', '/usr', '/etc')"
        " for root, folders, files in os.walk(top) for name in [*folders, *files]"
        " if not os.path.islink(os.path.join(root, name))"
        " and os.access(os.path.join(root, name), os.W_OK)])"
    )
    assert run_locked_down(docker_client, "python", "-c", code, read_only=False).strip() == "[]"


def test_every_source_is_readable_and_compiled(docker_client):
    code = (
        "import importlib.util, os, pathlib; print([str(p) for p in"
        " pathlib.Path('/opt/bench').rglob('*.py') if not (os.access(p, os.R_OK)"
        " and os.path.exists(importlib.util.cache_from_source(p)))])"
    )
    found = run_locked_down(docker_client, "python", "-c", code, user=f"{ANY_USER}:{ANY_USER}")
    assert found.strip() == "[]"


def test_the_command_keeps_its_exit_code(docker_client):
    with pytest.raises(ContainerError) as caught:
        run_locked_down(docker_client, "python", "-c", "raise SystemExit(37)")
    assert caught.value.exit_status == 37


def test_list_knows_it_as_this_checkouts(docker_client):
    result = bench_runner("images", "list", "cpu", "--format", "json")
    assert result.returncode == 0, result.stderr
    entry = next(e for e in json.loads(result.stdout) if e["tag"] == BACKEND.image.tag)
    assert entry["current"] is True
    assert entry["id"] == docker_client.images.get(BACKEND.image.tag).id


def test_a_second_build_leaves_it_alone(docker_client):
    before = docker_client.images.get(BACKEND.image.tag).id
    result = bench_runner("images", "build", "cpu", "--host-pip", "--if-changed")
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == [BACKEND.image.tag]
    assert "already holds this suite" in result.stderr
    assert docker_client.images.get(BACKEND.image.tag).id == before
