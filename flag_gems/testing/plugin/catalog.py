# SPDX-License-Identifier: Apache-2.0
"""The operators' marks, read from the catalogue without importing `flag_gems`."""

from __future__ import annotations

import runpy
from collections.abc import Iterable
from functools import cache

import pytest

from . import ROOT


@cache
def _operators() -> dict[str, frozenset[str]]:
    """Each operator with the names under which the ledger may know it."""
    table = runpy.run_path(str(ROOT / "flag_gems" / "catalog.py"), run_name="flag_gems_catalog")
    return {
        operator.name: frozenset((*operator.functions, *(key for key, _ in operator.aten)))
        for operator in table["OPERATORS"]
    }


def operator_names() -> tuple[str, ...]:
    """Names of all operators, each of which is a pytest mark."""
    return tuple(_operators())


def ledger_names(operators: Iterable[str]) -> frozenset[str]:
    """ATen keys and function names of these operators, as ``runtime.calls()`` spells them."""
    return frozenset().union(*(_operators()[name] for name in operators))


def operator_marks(item: pytest.Item) -> list[str]:
    """The operators that a test is marked with, the closest mark first."""
    known = set(operator_names())
    return list(dict.fromkeys(mark.name for mark in item.iter_markers() if mark.name in known))
