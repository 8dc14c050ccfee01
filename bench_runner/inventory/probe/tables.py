# SPDX-License-Identifier: Apache-2.0
"""What a module holds besides tests: its failure tables and the names it offers."""

from __future__ import annotations

import types
from typing import Any

from bench_runner.inventory.probe.identities import Classes, is_test_name, signature
from bench_runner.inventory.probe.layers import unwrap


def failure_tables(module: types.ModuleType, known: set[str]) -> list[dict[str, Any]]:
    """Dictionaries of the module whose values say for which suffixes a test fails.

    Args:
        known: names of test methods and tests; a key that is in none of them is dead.
    """
    found = []
    for name, table in vars(module).items():
        if not isinstance(table, dict) or not table:
            continue
        if not all(
            isinstance(key, str) and is_test_name(key) and hasattr(value, "suffixes")
            for key, value in table.items()
        ):
            continue
        found.append(
            {
                "name": name,
                "entries": {k: sorted(_suffixes(v)) for k, v in sorted(table.items())},
                "skips": sorted(k for k, v in table.items() if getattr(v, "is_skip", False)),
                "string_suffixes": sorted(
                    k for k, v in table.items() if isinstance(v.suffixes, str)
                ),
                "dead": sorted(key for key in table if key not in known),
            }
        )
    return found


def _suffixes(value: Any) -> list[str]:
    held = value.suffixes
    return [held] if isinstance(held, str) else [str(item) for item in held]


def api(module: types.ModuleType, classes: Classes) -> dict[str, dict[str, str]]:
    """Every name that others can import from the module."""
    found: dict[str, dict[str, str]] = {}
    for name, value in sorted(vars(module).items()):
        if name.startswith("__") or isinstance(value, types.ModuleType):
            continue
        if isinstance(value, type):
            found[name] = {"kind": "class", "signature": signature(value), "body": ""}
        elif callable(value):
            chain = unwrap(value)
            body = classes.sources.body(chain[-1].function.__code__) if chain else ""
            found[name] = {"kind": "function", "signature": signature(value), "body": body}
        else:
            found[name] = {"kind": "value", "signature": type(value).__qualname__, "body": ""}
    return found
