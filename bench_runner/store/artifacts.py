# SPDX-License-Identifier: Apache-2.0
"""Taking a job's artifacts out of the folder that a candidate could write to.

A hostile process may have left links, devices, pipes or terabytes there. Only regular files
directly in the folder are copied, each opened without following links and up to a size.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
from pathlib import Path

from bench_runner.contract.outcome import Collected

LARGEST_ARTIFACT = 64 << 20
MOST_ARTIFACTS = 64
UNFINISHED = re.compile(r"\.(report|timeline|supervisor|profile)\.json")
"""Our own temporary names, left where a job was killed while it wrote."""


def collect(out: Path, into: Path) -> Collected:
    """Copies artifacts from ``out`` to the new folder ``into``; then removes ``out``."""
    into.mkdir()
    names: list[str] = []
    refused: list[str] = []
    try:
        found = sorted(os.listdir(out))
    except OSError as error:
        found, refused = [], [f"the folder: {error.strerror}"]
    for name in found:
        if UNFINISHED.match(name):
            continue
        shown = name.encode("unicode_escape", "surrogateescape").decode("ascii", "replace")[:100]
        if len(names) == MOST_ARTIFACTS:
            refused.append(f"{shown} and what follows: more than {MOST_ARTIFACTS} files")
            break
        problem = "has an odd name" if shown != name else _copy(out / name, into / name)
        if problem:
            refused.append(f"{shown}: {problem}")
        else:
            names.append(name)
    shutil.rmtree(out, ignore_errors=True)
    return Collected(into, tuple(names), tuple(refused))


def _copy(source: Path, target: Path) -> str:
    """Copies one file; answers why not, or an empty string."""
    try:
        descriptor = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        return "is a link" if source.is_symlink() else (error.strerror or "unreadable")
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return "is not a regular file"
        content = file.read(LARGEST_ARTIFACT + 1)
    if len(content) > LARGEST_ARTIFACT:
        return f"is larger than {LARGEST_ARTIFACT >> 20} MiB"
    target.write_bytes(content)
    return ""
