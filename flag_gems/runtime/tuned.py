# SPDX-License-Identifier: Apache-2.0
"""Configurations of kernels that were measured once and are looked up ever after.

No kernel is tuned while it is used: a first call compiles one configuration and no other, and two
processes run the same code. A file per device holds, for each family of kernels, key ->
configuration. Keys are made by the family (``ops/matmul_plan.py`` says how for products); what a
file lacks, the family decides by rule.

Files are looked for in this order, and the first that has the key wins:

1. ``$GEMS_TUNED`` (a folder), or ``~/.cache/flag_gems/tuned``: what ``python -m
   flag_gems.runtime.tune`` wrote on this machine;
2. ``flag_gems/runtime/tuned_files``: what is shipped.

A file is ``<device>.json``, the device's name in lower case with hyphens: ``nvidia-h200.json``; on
the CPU ``cpu.json``.
"""

from __future__ import annotations

import functools
import json
import os
import re
from pathlib import Path
from typing import Any

from flag_gems.runtime import device, torch_device_fn

SCHEMA_VERSION = "flaggems.tuned/v1"
SHIPPED = Path(__file__).with_name("tuned_files")

Config = dict[str, Any]


class TunedFileError(ValueError):
    """A file of tuned configurations can't be read; the message names it."""


def own_folder() -> Path:
    """Where configurations tuned on this machine are kept."""
    given = os.environ.get("GEMS_TUNED")
    return Path(given) if given else Path.home() / ".cache" / "flag_gems" / "tuned"


@functools.cache
def device_name() -> str:
    """The name of this device's file, without its ending."""
    if device.name == "cpu":
        return "cpu"
    return re.sub(r"[^a-z0-9]+", "-", torch_device_fn.get_device_name().lower()).strip("-")


def read(path: Path) -> dict[str, dict[str, Config]]:
    """Family -> key -> configuration of a file; empty where there is none.

    Raises:
        TunedFileError: the file is not of :data:`SCHEMA_VERSION`.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise TunedFileError(f"{path}: {error}") from error
    if not isinstance(document, dict) or document.get("schema_version") != SCHEMA_VERSION:
        raise TunedFileError(f"{path}: schema_version is not {SCHEMA_VERSION}; tune anew")
    families: dict[str, dict[str, Config]] = document.get("families", {})
    return families


def write(path: Path, families: dict[str, dict[str, Config]], made_with: dict[str, str]) -> None:
    """Writes a file whole, under a temporary name first.

    ``made_with`` tells device and versions, for people: an entry stays valid when they change.
    """
    document = {"schema_version": SCHEMA_VERSION, "made_with": made_with, "families": families}
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    temporary.write_text(_text(document), encoding="utf-8")
    temporary.replace(path)


def _text(document: dict[str, Any]) -> str:
    """JSON with one line for each configuration, so that a change of one is one line of a diff."""
    lines = ["{", f'  "schema_version": {json.dumps(document["schema_version"])},']
    lines += [f'  "made_with": {json.dumps(document["made_with"])},', '  "families": {']
    families = sorted(document["families"].items())
    for number, (family, entries) in enumerate(families):
        lines.append(f"    {json.dumps(family)}: {{")
        rows = [f"      {json.dumps(key)}: {json.dumps(entries[key])}" for key in sorted(entries)]
        lines += [",\n".join(rows), "    }" + ("," if number + 1 < len(families) else "")]
    return "\n".join([*lines, "  }", "}", ""])


@functools.cache
def _families() -> tuple[dict[str, dict[str, Config]], ...]:
    name = f"{device_name()}.json"
    return tuple(read(folder / name) for folder in (own_folder(), SHIPPED))


def lookup(family: str, key: str) -> Config | None:
    """The tuned configuration, or None where none is kept."""
    for families in _families():
        config = families.get(family, {}).get(key)
        if config is not None:
            return config
    return None


def forget() -> None:
    """Reads the files again at the next lookup."""
    _families.cache_clear()
