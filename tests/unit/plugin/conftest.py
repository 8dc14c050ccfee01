# SPDX-License-Identifier: Apache-2.0
"""Runs real pytest sessions in processes of their own, on a copy of the checkout.

A copy, because the sessions need tests and benchmarks that misbehave, and must leave no file in
the tree; the library and the plug-in in it are the real ones.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]


@dataclass
class Outcome:
    """What a session's process answered."""

    code: int
    stdout: str
    stderr: str
    report: Any
    """The document at --output; None when there is no file."""

    @property
    def text(self) -> str:
        return self.stdout + self.stderr


class Checkout:
    """A copy of what a session needs, and a way to run sessions in it."""

    def __init__(self, root: Path, outside: Path) -> None:
        self.root = root
        self.outside = outside
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "flag_gems", root / "flag_gems", ignore=ignore)
        shutil.copytree(ROOT / "benchmark", root / "benchmark", ignore=ignore)
        (root / "tests").mkdir()
        shutil.copy(ROOT / "tests" / "conftest.py", root / "tests")
        shutil.copy(ROOT / "pyproject.toml", root)

    def write(self, name: str, text: str) -> Path:
        """Add a test or benchmark to the copy."""
        (self.root / name).write_text(text)
        return self.root / name

    def candidate(self, name: str, text: str) -> Path:
        """Write a candidate, outside the copy."""
        path = self.outside / name
        path.write_text(text)
        return path

    @property
    def report(self) -> Path:
        """Where the reports of sessions go."""
        return self.outside / "report.json"

    def environment(self) -> dict[str, str]:
        """Without what the surrounding session set, and without bytecode in the copy."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST")}
        return {**kept, "PYTHONDONTWRITEBYTECODE": "1"}

    def start_server(self) -> None:
        self.server = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("session_server.py"))],
            cwd=self.root,
            env=self.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def stop_server(self) -> None:
        assert self.server.stdin is not None
        self.server.stdin.close()
        assert self.server.wait(timeout=60) == 0

    def pytest(self, *arguments: str | Path, output: bool = False) -> Outcome:
        """Run a session; with `output`, it is given --output and its report is read back."""
        # Hypothesis imports itself for its summary, a second a session, and is not used in them.
        plugins = ("-p", "no:cacheprovider", "-p", "no:hypothesispytest")
        arguments = self._with_output((*plugins, *arguments), output)
        streams = [self.outside / name for name in ("stdout", "stderr")]
        request = {
            "arguments": [str(argument) for argument in arguments],
            "stdout": str(streams[0]),
            "stderr": str(streams[1]),
        }
        assert self.server.stdin is not None
        assert self.server.stdout is not None
        self.server.stdin.write(json.dumps(request) + "\n")
        self.server.stdin.flush()
        code = int(self.server.stdout.readline())
        return Outcome(code, streams[0].read_text(), streams[1].read_text(), self._read())

    def python(self, *arguments: str | Path, output: bool = False) -> Outcome:
        """The same in an interpreter of its own."""
        arguments = self._with_output(arguments, output)
        done = subprocess.run(
            [sys.executable, *map(str, arguments)],
            cwd=self.root,
            env=self.environment(),
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        return Outcome(done.returncode, done.stdout, done.stderr, self._read())

    def _with_output(self, arguments: tuple[str | Path, ...], output: bool) -> Any:
        self.report.unlink(missing_ok=True)
        if not output:
            return arguments
        self.report.write_text('{"stale": true}')
        return (*arguments, "--output", self.report)

    def _read(self) -> Any:
        return json.loads(self.report.read_text()) if self.report.exists() else None


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Checkout]:
    folder = tmp_path_factory.mktemp("checkout")
    made = Checkout(folder, tmp_path_factory.mktemp("outside"))
    made.start_server()
    yield made
    made.stop_server()


@pytest.fixture(scope="session")
def good(checkout: Checkout) -> Path:
    """A candidate of softmax and addmm_ that is right."""
    return checkout.candidate(
        "good: one=1.py",
        "import torch\n"
        "def softmax(x, dim=-1, dtype=None):\n    return torch.softmax(x, dim, dtype)\n"
        "def run(x, a, b, *, beta=1, alpha=1):\n"
        "    return x.addmm_(a, b, beta=beta, alpha=alpha)\n",
    )


@pytest.fixture(autouse=True)
def _leaves_the_checkout_alone(checkout: Checkout, request: pytest.FixtureRequest) -> Any:
    """A session may run on a read-only repository: it writes nothing beside its --output."""

    def files() -> set[Path]:
        return {path for path in checkout.root.rglob("*") if path.is_file()}

    before = files()
    yield
    written = {path for path in files() - before if not path.name.startswith("test_probe")}
    assert written == set()
