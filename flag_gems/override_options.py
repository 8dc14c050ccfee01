# SPDX-License-Identifier: Apache-2.0
"""The override options of a command line, apart from what they do.

Only the standard library is imported and no sibling, so that the pytest plug-in can run this file
by its path: a test session knows the options long before, and often without, importing `flag_gems`.
"""

from __future__ import annotations

import argparse
from typing import Any

_OPTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    (
        "--override",
        {
            "action": "append",
            "default": [],
            "metavar": "SPEC",
            "help": "Use a candidate for an operator: OPERATOR:FILE[:FUNCTION], or OPERATOR=... "
            "May be repeated; wins over --override-config, and a later one over an earlier.",
        },
    ),
    (
        "--override-config",
        {
            "default": None,
            "metavar": "PATH",
            "help": "YAML or JSON file that lists candidates under the key 'overrides'.",
        },
    ),
    (
        "--list-overrides",
        {
            "action": "store_true",
            "default": False,
            "help": "Print the candidates that are in effect.",
        },
    ),
)


def add_override_arguments(parser: Any) -> None:
    """Add `--override`, `--override-config` and `--list-overrides`.

    Args:
        parser: an argparse parser or argument group, or pytest's parser or option group.
    """
    add: Any
    if hasattr(parser, "addoption"):
        group = parser.getgroup("flag_gems override") if hasattr(parser, "getgroup") else parser
        add = group.addoption
    elif isinstance(parser, argparse.ArgumentParser):
        add = parser.add_argument_group("flag_gems override").add_argument
    else:
        add = parser.add_argument
    for flag, settings in _OPTIONS:
        add(flag, **settings)
