# SPDX-License-Identifier: Apache-2.0
"""`--override` and `--override-config` for any argparse script and for pytest.

    --override softmax:./softmax_v2.py:my_softmax     # operator:file[:function]
    --override softmax=./softmax_v2.py:my_softmax     # operator=file[:function]
    --override-config overrides.yaml                  # or .json

Relative paths, those inside a configuration file included, are relative to the current directory,
so that an entry means the same on the command line and in a file.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from flag_gems.dynamic_registry import DynamicOpOverride, OverrideError
from flag_gems.override_options import add_override_arguments

__all__ = [
    "OverrideConfigError",
    "OverrideConfigNotFoundError",
    "OverrideSpec",
    "OverrideSpecError",
    "add_override_arguments",
    "apply_overrides_from_args",
    "describe_overrides",
    "load_override_config",
    "parse_override_spec",
    "requested_overrides",
]

_SPEC_HEAD = re.compile(r"\s*(?:flag_gems\.)?([^\W\d]\w*)\s*[:=]\s*(.*?)\s*\Z", re.DOTALL)
_TOO_DEEP = "nested too deeply; expected 'overrides:' with one entry an operator"
_FORM = "expected OPERATOR:FILE[:FUNCTION] or OPERATOR=FILE[:FUNCTION]"


class OverrideSpecError(OverrideError, ValueError):
    """An `--override` value does not have the form `operator:file[:function]`."""


class OverrideConfigError(OverrideError, ValueError):
    """A configuration file does not have the form that `load_override_config` describes."""


class OverrideConfigNotFoundError(OverrideError, FileNotFoundError):
    """The configuration file cannot be read."""


class OverrideSpec(NamedTuple):
    """One parsed `--override`: operator, file as written, function (the operator's by default)."""

    op_name: str
    filepath: str
    func_name: str


def parse_override_spec(spec: str) -> OverrideSpec:
    """Parse `operator:file[:function]` or `operator=file[:function]`.

    The file may contain spaces, colons and equals signs: what exists on disk decides where it ends,
    and for a file that does not exist, the suffix `.py`.

    Raises:
        OverrideSpecError: no operator, no file, or a function that is not an identifier.
    """
    match = _SPEC_HEAD.match(spec)
    if match is None:
        raise OverrideSpecError(f"override {spec!r}: {_FORM}")
    op_name, rest = match.groups()
    try:
        filepath, func_name = _split_target(rest)
    except ValueError as error:
        raise OverrideSpecError(f"override {spec!r}: {error}; {_FORM}") from None
    return OverrideSpec(op_name, filepath, func_name or op_name)


def _split_target(target: str) -> tuple[str, str | None]:
    """Split `file[:function]`; ValueError says what is wrong."""
    if not target:
        raise ValueError("no file")
    head, colon, tail = target.rpartition(":")
    if not colon or not _names_file(target, head):
        return target, None
    head, tail = head.rstrip(), tail.strip()
    if not head:
        raise ValueError("no file")
    if not tail.isidentifier():
        raise ValueError(f"{tail!r} is not a function name" if tail else "no function after ':'")
    return head, tail


def _names_file(target: str, head: str) -> bool:
    """Whether `head`, and not all of `target` = `head:tail`, is the file."""
    if os.path.isfile(os.path.expanduser(head)) and head.endswith(".py"):
        return True
    if os.path.isfile(os.path.expanduser(target)):
        return False
    return head.endswith(".py") or not target.endswith(".py")


def load_override_config(path: str | os.PathLike[str]) -> dict[str, tuple[str, str]]:
    """Read a YAML (or, with suffix `.json`, JSON) file into `{operator: (file, function)}`.

    The document is `overrides:` with one entry an operator: `file[:function]`, or a mapping with
    `file` and, optionally, `function`.

    Raises:
        OverrideConfigNotFoundError: the file is missing or unreadable.
        OverrideConfigError: anything else than the form above, with file and line.
    """
    where = os.fspath(path)
    try:
        with open(path, encoding="utf-8") as stream:
            text = stream.read()
    except OSError as error:
        raise OverrideConfigNotFoundError(
            f"override configuration {where}: {error.strerror or error}"
        ) from error
    except UnicodeDecodeError as error:
        raise OverrideConfigError(f"{where}: not UTF-8 text ({error.reason})") from error
    document = _parse_json(where, text) if where.endswith(".json") else _parse_yaml(where, text)
    return _read_document(document)


class _Entry(NamedTuple):
    """A scalar (str or anything else) or the (key, line, value) triples of a mapping."""

    where: str
    value: Any
    items: tuple[tuple[Any, _Entry], ...] | None


def _parse_json(where: str, text: str) -> _Entry:
    def wrap(value: Any) -> _Entry:
        if isinstance(value, _Entry):
            return value
        return _Entry(where, value, None)

    def pairs(items: list[tuple[str, Any]]) -> _Entry:
        return _Entry(where, None, tuple((key, wrap(value)) for key, value in items))

    try:
        return wrap(json.loads(text, object_pairs_hook=pairs))
    except json.JSONDecodeError as error:
        raise OverrideConfigError(f"{where}:{error.lineno}: not JSON: {error.msg}") from error
    except RecursionError:
        raise OverrideConfigError(f"{where}: {_TOO_DEEP}") from None


def _parse_yaml(where: str, text: str) -> _Entry:
    import yaml

    def wrap(node: yaml.Node) -> _Entry:
        line = f"{where}:{node.start_mark.line + 1}"
        if isinstance(node, yaml.MappingNode):
            pairs = tuple((key.value, wrap(value)) for key, value in node.value)
            return _Entry(line, None, pairs)
        if isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:str":
            return _Entry(line, node.value, None)
        return _Entry(line, None, None)

    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 1}" if mark is not None else ""
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise OverrideConfigError(f"{where}{line}: not YAML: {problem}") from error
    except RecursionError:
        raise OverrideConfigError(f"{where}: {_TOO_DEEP}") from None
    if node is None:
        raise OverrideConfigError(f"{where}: the file is empty; expected 'overrides:'")
    try:
        return wrap(node)
    except RecursionError:
        raise OverrideConfigError(f"{where}: an alias contains itself") from None


def _read_document(document: _Entry) -> dict[str, tuple[str, str]]:
    top = _mapping(document, "the document", allowed=("overrides",))
    if "overrides" not in top:
        raise OverrideConfigError(f"{document.where}: no key 'overrides'")
    entries = _mapping(top["overrides"], "'overrides'", allowed=None)
    if not entries:
        raise OverrideConfigError(f"{top['overrides'].where}: 'overrides' lists no operator")
    return {op_name: _read_target(op_name, entry) for op_name, entry in entries.items()}


def _read_target(op_name: str, entry: _Entry) -> tuple[str, str]:
    if entry.items is None:
        target = _text(entry, f"overrides.{op_name}", "file[:function] or a mapping")
        try:
            filepath, func_name = _split_target(target)
        except ValueError as error:
            raise OverrideConfigError(f"{entry.where}: overrides.{op_name}: {error}") from None
        return filepath, func_name or op_name
    fields = _mapping(entry, f"overrides.{op_name}", allowed=("file", "function"))
    if "file" not in fields:
        raise OverrideConfigError(f"{entry.where}: overrides.{op_name} has no 'file'")
    filepath = _text(fields["file"], f"overrides.{op_name}.file", "a path")
    if "function" not in fields:
        return filepath, op_name
    return filepath, _text(fields["function"], f"overrides.{op_name}.function", "a function's name")


def _text(entry: _Entry, name: str, wanted: str) -> str:
    if entry.items is not None or not isinstance(entry.value, str) or not entry.value.strip():
        raise OverrideConfigError(f"{entry.where}: {name} must be {wanted}")
    return entry.value.strip()


def _mapping(entry: _Entry, name: str, allowed: Iterable[str] | None) -> dict[str, _Entry]:
    if entry.items is None:
        raise OverrideConfigError(f"{entry.where}: {name} must be a mapping")
    result: dict[str, _Entry] = {}
    for key, value in entry.items:
        if not isinstance(key, str):
            raise OverrideConfigError(f"{value.where}: a key of {name} is not a string")
        if key in result:
            raise OverrideConfigError(f"{value.where}: {key!r} is given twice in {name}")
        if allowed is not None and key not in allowed:
            known = ", ".join(repr(item) for item in allowed)
            raise OverrideConfigError(
                f"{value.where}: unknown key {key!r} in {name} (known: {known})"
            )
        result[key] = value
    return result


def requested_overrides(args: Any) -> dict[str, tuple[str, str]]:
    """`{operator: (file, function)}` of parsed arguments; `--override` over `--override-config`.

    Args:
        args: any object with attributes `override` (a list, or None) and `override_config`.
    """
    config = getattr(args, "override_config", None)
    targets = load_override_config(config) if config else {}
    for text in getattr(args, "override", None) or ():
        spec = parse_override_spec(text)
        targets[spec.op_name] = (spec.filepath, spec.func_name)
    return targets


def apply_overrides_from_args(args: Any) -> DynamicOpOverride:
    """Put the candidates of parsed arguments in place and return the registry that restores them.

    With `list_overrides` set, one line a candidate is printed.

    Raises:
        OverrideError: see `requested_overrides` and `DynamicOpOverride.override_batch_from_files`;
            nothing has been replaced then.
    """
    registry = DynamicOpOverride()
    targets = requested_overrides(args)
    if targets:
        registry.override_batch_from_files(dict(targets))
    if getattr(args, "list_overrides", False):
        for line in describe_overrides(registry):
            print(line)
    return registry


def describe_overrides(registry: DynamicOpOverride) -> list[str]:
    """One line an override from a file, or one line that says there is none."""
    lines = [f"override: {name} -> {origin}" for name, origin in registry.origins().items()]
    return lines or ["override: none"]
