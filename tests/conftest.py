# SPDX-License-Identifier: Apache-2.0
"""Gives every test under tests/ the options of the plug-in and the marks of the operators."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

PLUGIN = "flag_gems.testing.plugin"


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    if PLUGIN not in sys.modules:
        # By path: an ordinary import would import flag_gems, and torch with it; see the package.
        path = Path(__file__).parents[1] / "flag_gems" / "testing" / "plugin" / "__init__.py"
        spec = spec_from_file_location(PLUGIN, path)
        assert spec is not None
        assert spec.loader is not None
        sys.modules[PLUGIN] = module_from_spec(spec)
        spec.loader.exec_module(sys.modules[PLUGIN])
    sys.modules[PLUGIN].register(
        pluginmanager, "shared", "accuracy", "classification", "capabilities"
    )
