# SPDX-License-Identifier: Apache-2.0
"""TRITON_CPU_DUMP=DIR: each stage of each kernel, for people who want to see what became of it."""

from __future__ import annotations

import os
from pathlib import Path

VARIABLE = "TRITON_CPU_DUMP"


def folder() -> Path | None:
    """Where to write, or None."""
    text = os.environ.get(VARIABLE)
    return Path(text) if text else None


def write(kernel: str, suffix: str, content: str | bytes) -> None:
    """Writes ``<kernel>.<suffix>`` when a folder is given; a later variant replaces an earlier."""
    target = folder()
    if target is None:
        return
    target.mkdir(parents=True, exist_ok=True)
    # Names of kernels may be longer than a file's name may be.
    path = target / f"{kernel[:150]}.{suffix}"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
