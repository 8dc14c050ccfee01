# SPDX-License-Identifier: Apache-2.0
"""What a build was lent for its time is in no layer and no history of what it leaves."""

from __future__ import annotations

import dataclasses
import subprocess
import tarfile
import tempfile
import uuid
from pathlib import Path
from typing import Any

import docker
import pytest

from bench_runner.backends import load_backends
from bench_runner.images.build_plan import BuildOptions, plan_build
from bench_runner.images.host_pip import read_host_pip
from bench_runner.images.indexes import Indexes
from bench_runner.suite import suite_root

PASSWORD = f"password-{uuid.uuid4().hex}"
AUTHORITY = f"authority-{uuid.uuid4().hex}"
CHUNK = 1 << 20


@pytest.mark.docker
def test_no_layer_holds_a_secret(docker_client: docker.DockerClient, tmp_path: Path) -> None:
    host = read_host_pip()
    bundle, pip_conf = tmp_path / "ca.pem", tmp_path / "pip.conf"
    trusted = host.ca_bundle.read_text() if host.ca_bundle else ""
    bundle.write_text(f"{trusted}\n# {AUTHORITY}\n")
    index = f"index-url = {host.index}\n" if host.index else ""
    pip_conf.write_text(f"[global]\n{index}# {PASSWORD}\n")
    options = BuildOptions(
        tag=f"bench-runner-test/secrets:{uuid.uuid4().hex[:12]}",
        ca_bundle=bundle if trusted else None,
        pip_conf=pip_conf,
    )
    cpu = load_backends()["cpu"]
    plan = plan_build(cpu, options, Indexes(host.index, host.extra), suite_root(), "0" * 64)
    # One small package of a name's own line: no layer of an earlier build can stand in for this.
    asked = {"PACKAGES": "", "PACKAGES_AFTER": "", "REQUIREMENTS": f"iniconfig\n# {PASSWORD[-8:]}"}
    plan = dataclasses.replace(plan, build_args={**plan.build_args, **asked})
    *build, context = plan.command()
    finished = subprocess.run(
        [*build, "--target", "dependencies", context], capture_output=True, text=True, check=False
    )
    assert finished.returncode == 0, finished.stderr[-3000:]
    try:
        image = docker_client.images.get(plan.tag)
        secrets = [PASSWORD.encode(), AUTHORITY.encode()]
        files, found = read_layers(image, [*secrets, b"iniconfig"])
        assert files > 1000
        # The reader does find what is there.
        assert found == {b"iniconfig"}
        assert PASSWORD not in str(image.history()) + str(image.attrs)
    finally:
        docker_client.images.remove(plan.tag, force=True)


def read_layers(image: Any, needles: list[bytes]) -> tuple[int, set[bytes]]:
    """Reads every file of every layer: (their number, which needles were found)."""
    files, found = 0, set()
    with tempfile.TemporaryFile() as saved:
        for chunk in image.save():
            saved.write(chunk)
        saved.seek(0)
        with tarfile.open(fileobj=saved) as archive:
            for member in archive:
                content = archive.extractfile(member) if member.isfile() else None
                if content is None:
                    continue
                head = content.read(512)
                content.seek(0)
                if head[257:262] != b"ustar":
                    found |= {needle for needle in needles if needle in content.read()}
                    continue
                with tarfile.open(fileobj=content) as layer:
                    for inner in layer:
                        body = layer.extractfile(inner) if inner.isfile() else None
                        if body is not None:
                            files += 1
                            found |= search(body, needles)
    return files, found


def search(body: Any, needles: list[bytes]) -> set[bytes]:
    """Which needles a file has, however large it is."""
    found: set[bytes] = set()
    longest = max(map(len, needles))
    kept = b""
    while chunk := body.read(CHUNK):
        window = kept + chunk
        found |= {needle for needle in needles if needle in window}
        kept = window[-longest:]
    return found
