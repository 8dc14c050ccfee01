# SPDX-License-Identifier: Apache-2.0
"""Values as text that is the same in every process: no address, no hash order."""

from __future__ import annotations

import functools
import re
import types
import unittest
from collections.abc import Mapping
from typing import Any

from bench_runner.inventory.probe.syntax import code_digest

ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+|0x[0-9a-f]{8,}")
LONGEST = 300
DEPTH = 4


def text(value: Any, depth: int = DEPTH) -> str:
    """``value`` in one line of at most ``LONGEST`` characters, the same in every process."""
    shown = _text(value, depth)
    return shown if len(shown) <= LONGEST else shown[: LONGEST - 1] + "…"


def _text(value: Any, depth: int) -> str:
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        return repr(value)
    if isinstance(value, type):
        return f"{value.__module__}.{value.__qualname__}"
    if isinstance(value, types.FunctionType):
        if "<lambda>" in value.__qualname__:
            return f"<lambda {code_digest(value.__code__)}>"
        return f"<{value.__qualname__}>"
    if isinstance(value, types.MethodType):
        return f"<{value.__func__.__qualname__}>"
    if isinstance(value, unittest.TestCase):
        # Its own repr names the module, which tells more than what was closed over.
        return f"<{type(value).__qualname__}>"
    if depth == 0:
        return f"<{type(value).__qualname__}>"
    if isinstance(value, functools.partial):
        return f"<partial {_text(value.func, depth - 1)}>"
    if isinstance(value, Mapping):
        pairs = [f"{_text(k, depth - 1)}: {_text(v, depth - 1)}" for k, v in value.items()]
        return "{" + ", ".join(sorted(pairs)) + "}"
    if isinstance(value, (set, frozenset)):
        return "{" + ", ".join(sorted(_text(item, depth - 1) for item in value)) + "}"
    if isinstance(value, (list, tuple)):
        inner = ", ".join(_text(item, depth - 1) for item in value)
        return f"[{inner}]" if isinstance(value, list) else f"({inner})"
    return _object(value, depth)


def _object(value: Any, depth: int) -> str:
    own = type(value).__repr__
    if own is not object.__repr__:
        try:
            shown = ADDRESS.sub("", repr(value))
        except Exception as error:
            shown = f"<{type(value).__qualname__}, repr raises {type(error).__name__}>"
        return " ".join(shown.split())
    try:
        attributes = vars(value)
    except TypeError:
        return f"<{type(value).__qualname__}>"
    shown = ", ".join(
        f"{name}={_text(item, depth - 1)}"
        for name, item in sorted(attributes.items())
        if not callable(item)
    )
    return f"<{type(value).__qualname__} {shown}>" if shown else f"<{type(value).__qualname__}>"
