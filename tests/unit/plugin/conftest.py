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
from collections.abc import Callable
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

    def pytest(self, *arguments: str | Path, output: bool = False, **kwargs: Any) -> Outcome:
        """Run a session; with `output`, it is given --output and its report is read back."""
        return self.python("-m", "pytest", "-p", "no:cacheprovider", *arguments, output=output)

    def python(self, *arguments: str | Path, output: bool = False) -> Outcome:
        target = self.outside / "report.json"
        target.unlink(missing_ok=True)
        if output:
            target.write_text('{"stale": true}')
            arguments = (*arguments, "--output", target)
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST")}
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
        done = subprocess.run(
            [sys.executable, *map(str, arguments)],
            cwd=self.root,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        report = json.loads(target.read_text()) if target.exists() else None
        return Outcome(done.returncode, done.stdout, done.stderr, report)


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    folder = tmp_path_factory.mktemp("checkout")
    return Checkout(folder, tmp_path_factory.mktemp("outside"))


@pytest.fixture(scope="session")
def good(checkout: Checkout) -> Path:
    """A candidate of softmax and addmm_ that is right."""
    return checkout.candidate(
        "good: one=1.py",
        "import torch\n"
        "def softmax(x, dim=-1, dtype=None):\n    return torch.softmax(x, dim, dtype)\n"
        "def run(x, a, b, *, beta=1, alpha=1):\n    return x.addmm_(a, b, beta=beta, alpha=alpha)\n",
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


Run = Callable[..., Outcome]
