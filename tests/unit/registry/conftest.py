# SPDX-License-Identifier: Apache-2.0
"""The registry beside a bare `flag_gems` package: no kernels, no torch, milliseconds a test."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def gems(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """A bare `flag_gems`; the modules under test are imported afresh beneath it."""
    for name in [n for n in sys.modules if n == "flag_gems" or n.startswith("flag_gems.")]:
        monkeypatch.delitem(sys.modules, name)
    package = ModuleType("flag_gems")
    package.__path__ = [str(ROOT / "flag_gems")]
    package.softmax = lambda x: ("gems", x)
    package.neg = lambda x: ("gems", -x)
    monkeypatch.setitem(sys.modules, "flag_gems", package)
    yield package
    for name in [n for n in sys.modules if n.startswith("flag_gems.")]:
        del sys.modules[name]


@pytest.fixture
def dynamic(gems: ModuleType) -> ModuleType:
    return importlib.import_module("flag_gems.dynamic_registry")


@pytest.fixture
def cli(gems: ModuleType) -> ModuleType:
    return importlib.import_module("flag_gems.cli_override")


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], Path]:
    """Write a candidate file and return its path."""

    def writer(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    return writer
