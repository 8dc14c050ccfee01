# SPDX-License-Identifier: Apache-2.0
"""The operators' marks, read from the catalogue without importing `flag_gems`."""

from __future__ import annotations

import runpy
from functools import cache

import pytest

from . import ROOT


@cache
def operator_names() -> tuple[str, ...]:
    """Names of all operators, each of which is a pytest mark."""
    table = runpy.run_path(str(ROOT / "flag_gems" / "catalog.py"), run_name="flag_gems_catalog")
    return tuple(operator.name for operator in table["OPERATORS"])


def operator_marks(item: pytest.Item) -> list[str]:
    """The operators that a test is marked with, the closest mark first."""
    known = set(operator_names())
    return list(dict.fromkeys(mark.name for mark in item.iter_markers() if mark.name in known))
