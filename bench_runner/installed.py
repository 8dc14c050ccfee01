# SPDX-License-Identifier: Apache-2.0
"""Versions of what is installed beside this process, from metadata: importing it costs seconds."""

from __future__ import annotations

import platform
from importlib import metadata
from importlib.util import find_spec

from bench_runner.errors import InfrastructureFault
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


def require_extra_serve(module: str, what: str) -> None:
    """Raises InfrastructureFault when ``module`` of the extra ``serve`` is not installed.

    Args:
        what: the thing that needs it, as a person would call it.
    """
    if find_spec(module) is None:
        raise InfrastructureFault(f"{what} needs: pip install 'flag-gems[serve]'")
