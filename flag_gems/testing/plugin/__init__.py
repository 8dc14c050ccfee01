# SPDX-License-Identifier: Apache-2.0
"""The pytest plug-in behind tests/ and benchmark/.

The conftests load this package by its path, under its full name but without its parents, because
importing `flag_gems` imports torch and triton, which a session that tests neither should not pay
for. Nothing in here imports them at module level: only relative and standard imports, and pytest.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
"""The repository (or its installed copy): holds flag_gems/, tests/ and benchmark/."""


def register(pluginmanager: pytest.PytestPluginManager, *names: str) -> None:
    """Register plug-ins of this package, each once however many conftests ask for it."""
    for name in names:
        full_name = f"{__name__}.{name}"
        if not pluginmanager.has_plugin(full_name):
            pluginmanager.register(import_module(full_name), full_name)
