# SPDX-License-Identifier: Apache-2.0
"""Versions of what is installed beside this process, from metadata: importing it costs seconds."""

from __future__ import annotations

import platform
from importlib import metadata

from bench_runner.executors.interface import ExecutorError

VERSIONED = ("torch", "triton", "numpy", "pytest")


def installed_versions() -> dict[str, str]:
    """Versions of Python and of what jobs need.

    Raises:
        ExecutorError: one that jobs need is not installed.
    """
    versions = {"python": platform.python_version()}
    for name in VERSIONED:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError as error:
            raise ExecutorError(f"{name} is not installed here; run ./setup.sh cpu") from error
    return versions
