# SPDX-License-Identifier: Apache-2.0
"""Imports a file of the suite as its own command line would, and says what stopped it if not."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
import sys
import traceback
import types
import unittest
from pathlib import Path
from typing import Any

from bench_runner.inventory.probe.sources import Sources

NAMED = re.compile(r"'([\w.]+)'")


class Unfit(Exception):
    """The source asks an installed package for a symbol that this version does not have."""


def load(path: Path) -> types.ModuleType:
    """Imports ``path`` as ``python path`` would, but under its own name.

    The file's folder comes first on the path, so that ``import neighbour`` works and a relative
    import fails: a suite that falls back from one to the other does so here as well.
    """
    sys.argv = [str(path)]
    sys.path.insert(0, str(path.parent))
    return importlib.import_module(path.stem)


def failure(error: BaseException, sources: Sources) -> dict[str, Any]:
    """An import error as a record."""
    at = ""
    for frame in traceback.extract_tb(error.__traceback__):
        relative = sources.inside(frame.filename)
        if relative is not None:
            at = f"{relative}:{frame.lineno}"
    # A message may name a file by where the suite happens to lie.
    message = str(error).replace(f"{sources.root}/", "")
    named = NAMED.findall(message)
    missing = ""
    if isinstance(error, ModuleNotFoundError):
        missing = error.name or ""
    elif isinstance(error, ImportError):
        missing = f"{error.name}.{named[0]}" if error.name and named else error.name or ""
    elif isinstance(error, (AttributeError, NameError)):
        missing = getattr(error, "name", "") or (named[-1] if named else "")
    return {
        "type": type(error).__name__,
        "message": " ".join(message.split())[:500],
        "missing": missing,
        "at": at,
        "skipped": isinstance(error, unittest.SkipTest),
    }


def check_fit(path: Path, sources: Sources) -> None:
    """Looks up what the file imports from installed packages before it runs.

    Only imports that the file does unconditionally are asked for: one under ``try`` or ``if`` may
    be missing on purpose.

    Raises:
        Unfit: names the first symbol that is not there.
        SyntaxError: the file is no Python of this version.
    """
    neighbours = {item.stem for item in path.parent.iterdir()} | {
        item.name for item in sources.root.iterdir()
    }
    for node in ast.parse(path.read_bytes()).body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] not in neighbours:
                    _module(alias.name, path, node.lineno)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            if node.module.partition(".")[0] in neighbours:
                continue
            module = _module(node.module, path, node.lineno)
            for alias in node.names:
                if alias.name != "*" and not _has(module, alias.name):
                    raise Unfit(
                        f"{path.name}:{node.lineno} asks for {node.module}.{alias.name}, which "
                        f"{_version(node.module)} does not have"
                    )


def _module(name: str, path: Path, line: int) -> types.ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise Unfit(
            f"{path.name}:{line} asks for {name}, and that for module {error.name}, which "
            f"{_version(error.name or name)} does not have"
        ) from error
    except ImportError as error:
        raise Unfit(f"{path.name}:{line} imports {name}, which fails: {error}") from error


def _has(module: types.ModuleType, name: str) -> bool:
    if hasattr(module, name):
        return True
    try:
        return importlib.util.find_spec(f"{module.__name__}.{name}") is not None
    except (ImportError, AttributeError, ValueError):
        return False


def _version(module: str) -> str:
    package = module.partition(".")[0]
    version = getattr(sys.modules.get(package), "__version__", None)
    return f"the installed {package} {version}" if version else "this environment"
