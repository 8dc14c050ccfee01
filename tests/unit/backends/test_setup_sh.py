# SPDX-License-Identifier: Apache-2.0
"""setup.sh refuses what cannot work in one line, before it has changed anything."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench_runner.backends import load_backends

ROOT = Path(__file__).resolve().parents[3]


def setup(*arguments: str, root: Path = ROOT, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", str(root / "setup.sh"), *arguments],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        env={**os.environ, **variables},
        timeout=60,
        check=False,
    )


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The files that setup.sh reads, where it may do as it likes."""
    (tmp_path / "scripts").mkdir()
    for name in ("setup.sh", "backends.yaml", "pyproject.toml", "scripts/messages.sh"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    return tmp_path


def only_line(result: subprocess.CompletedProcess[str], code: int) -> str:
    assert result.returncode == code, result.stderr
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert len(lines) == 1
    return lines[0]


def test_no_backend_lists_them(checkout):
    line = only_line(setup(root=checkout), 2)
    assert line.startswith("setup.sh: usage: ")
    # The list comes from a line-wise reader; the parser must see the same names.
    assert line.partition("one of: ")[2].split() == list(load_backends())


def test_an_unknown_backend_lists_the_known(checkout):
    line = only_line(setup("tpu", root=checkout), 2)
    assert line == f"setup.sh: unknown backend tpu; known are: {' '.join(load_backends())}"


def test_enable_cpp_is_on_or_off(checkout):
    assert "give 1 to build" in only_line(setup("cpu", root=checkout, ENABLE_CPP="yes"), 2)


def test_cpp_operators_want_a_compiler(checkout):
    done = setup("cpu", root=checkout, ENABLE_CPP="1", CXX="no-such-compiler")
    assert "there is no no-such-compiler" in only_line(done, 3)


@pytest.mark.parametrize(
    "name",
    [n for n, b in load_backends().items() if b.env_source or b.requires_path],
)
def test_an_absent_toolkit_is_named(checkout, tmp_path, name):
    backend = load_backends()[name]
    path = backend.env_source or backend.requires_path
    assert path is not None
    if Path(path).exists():
        pytest.skip(f"this machine has {path}")
    version = backend.python.removeprefix(">=")
    python = fake_python(tmp_path, version)
    line = only_line(setup(name, root=checkout, PYTHON=str(python)), 3)
    assert path in line
    assert not (checkout / ".venv").exists()


@pytest.mark.parametrize("name", list(load_backends()))
def test_an_interpreter_of_another_version_is_refused(checkout, tmp_path, name):
    # 3.8 fits no backend, so every one must have read its own demand from the table.
    line = only_line(setup(name, root=checkout, PATH=only_python(tmp_path, "3.8")), 3)
    assert f"{name} needs Python {load_backends()[name].python}, found 3.8" in line


def test_a_ready_environment_is_left_alone(checkout):
    venv = checkout / ".venv"
    (venv / "bin").mkdir(parents=True)
    (venv / "bin" / "python").symlink_to(sys.executable)
    stamp = venv / ".bench-runner-setup"
    asked = "source ./setup.sh; BACKEND=cpu; find_python; fingerprint"
    fingerprint = subprocess.run(
        ["bash", "-c", asked], cwd=checkout, capture_output=True, text=True, check=False
    )
    assert len(fingerprint.stdout.strip()) == 64, fingerprint.stderr
    stamp.write_text(f"cpu {fingerprint.stdout}")
    before = stamp.stat().st_mtime_ns
    assert only_line(setup("cpu", root=checkout), 0).endswith(".venv is ready for cpu")
    assert stamp.stat().st_mtime_ns == before


def fake_python(folder: Path, version: str) -> Path:
    """An interpreter that says it is `version`; setup.sh asks nothing else before its refusals."""
    path = folder / "fake-python"
    path.write_text(f"#!/bin/sh\necho {version}\n")
    path.chmod(0o755)
    return path


def only_python(folder: Path, version: str) -> str:
    """A PATH whose every python is that fake one."""
    tools = folder / "tools"
    tools.mkdir()
    for name in ("python3", *(f"python3.{minor}" for minor in range(8, 16))):
        (tools / name).symlink_to(fake_python(folder, version))
    return f"{tools}:{os.environ['PATH']}"
