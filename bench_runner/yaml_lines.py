# SPDX-License-Identifier: Apache-2.0
"""YAML whose errors can name a line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import yaml


class DuplicateKeyError(yaml.MarkedYAMLError):
    """YAML lets the last of two equal keys win in silence; that would hide a mistake."""


def read_yaml(text: str) -> tuple[Any, yaml.Node | None]:
    """The document's value, and its node tree for ``line_of``.

    Raises:
        yaml.YAMLError: not YAML, or a key that is given twice.
    """
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    _refuse_duplicate_keys(root)
    return yaml.safe_load(text), root


def _refuse_duplicate_keys(node: yaml.Node | None) -> None:
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            if key.value in seen:
                raise DuplicateKeyError(
                    problem=f"{key.value}: given twice; keep one", problem_mark=key.start_mark
                )
            seen.add(key.value)
            _refuse_duplicate_keys(value)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            _refuse_duplicate_keys(item)


def line_of(node: yaml.Node | None, location: Sequence[int | str]) -> int:
    """The 1-based line of the deepest part of ``location`` that the document has."""
    line = node.start_mark.line + 1 if node is not None else 1
    for part in location:
        following: yaml.Node | None = None
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                if key.value == str(part):
                    line, following = key.start_mark.line + 1, value
        elif isinstance(node, yaml.SequenceNode) and part in range(len(node.value)):
            following = node.value[int(part)]
            line = following.start_mark.line + 1
        if following is None:
            break
        node = following
    return line
