# SPDX-License-Identifier: Apache-2.0
"""What a job finds when it looks around in its container."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.integration.run.conftest import Bench

LOOK = """
import json, os, resource, socket

def fails(action):
    try:
        action()
    except OSError:
        return True
    return False

status = dict(line.split(":\\t", 1) for line in open("/proc/self/status") if ":\\t" in line)
print("FOUND " + json.dumps({
    "uid": os.getuid(),
    "capabilities": status["CapEff"].strip(),
    "no_new_privileges": status["NoNewPrivs"].strip(),
    "interfaces": [name for _, name in socket.if_nameindex()],
    "root_refuses": fails(lambda: open("/root.txt", "w")),
    "suite_refuses": fails(lambda: open("/opt/bench/x", "w")),
    "inputs_refuse": fails(lambda: open("/in/x", "w")),
    "core": resource.getrlimit(resource.RLIMIT_CORE)[0],
    "file_size": resource.getrlimit(resource.RLIMIT_FSIZE)[0],
    "cache": os.environ["TRITON_CACHE_DIR"],
    "secrets": [name for name in os.environ if "TOKEN" in name or "PASSWORD" in name],
}), flush=True)

import torch
def softmax(input, dim=-1, dtype=None):
    return torch.softmax(input, dim, dtype)
"""


@pytest.mark.docker
@pytest.mark.parametrize("bench", ["docker"], indirect=True)
def test_the_container_is_locked_down(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_TOKEN", "secret")
    job = bench.judge(tmp_path, LOOK)
    assert job["status"] == "PASSED"
    (line,) = (text for text in bench.log(job).splitlines() if text.startswith("FOUND "))
    found = json.loads(line.removeprefix("FOUND "))
    assert found["uid"] != 0
    assert int(found["capabilities"], 16) == 0
    assert found["no_new_privileges"] == "1"
    assert found["interfaces"] == ["lo"]
    assert found["root_refuses"]
    assert found["suite_refuses"]
    assert found["inputs_refuse"]
    assert found["core"] == 0
    assert found["file_size"] == 256 << 20
    assert found["cache"].startswith("/tmp/")
    assert found["secrets"] == []
    assert job["verdict"]["privileges"] == []
