# SPDX-License-Identifier: Apache-2.0
"""One probe: reads a request, makes the process look like its platform, writes what it found.

The request and the answer are JSON files: a suite may print what it likes on stdout, and may leave
the process from an ``atexit`` hook.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import platform
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench_runner.inventory.probe import platforms, shadow, with_pytest, with_unittest
from bench_runner.inventory.probe.loading import Unfit
from bench_runner.inventory.probe.sources import Sources


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """What the probe found, or why it could not look."""
    if request["what"] == "environment":
        return environment(request["packages"])
    sources = Sources(Path(request["root"]), Path(request["facts"]))
    devices = (request["profile"]["device"],)
    try:
        patches = platforms.apply(request["profile"])
        if request["what"] == "shadow":
            return shadow.materialise(request["paths"][0], request["labels"], sources, devices)
        if request["what"] == "unittest":
            found = {
                request["paths"][0]: with_unittest.discover(request["paths"][0], sources, devices)
            }
        else:
            found = with_pytest.discover(request["paths"], sources, devices, request["arguments"])
    except (Unfit, platforms.StepError) as error:
        return {"refused": type(error).__name__, "reason": str(error)}
    return {
        "files": found,
        "patches": patches,
        "probes": platforms.probes(),
        "outside": outside(sources),
    }


def outside(sources: Sources) -> dict[str, list[int]]:
    """Installed files that were loaded, with size and time of change."""
    found = {}
    # What was compiled or written on the way is an outcome, not something that was installed, also
    # where a suite put the folder that it wrote to on the path.
    roots = tuple({os.path.realpath(item) + os.sep for item in sys.path if item})
    own = os.path.realpath(tempfile.gettempdir()) + os.sep
    for module in list(sys.modules.values()):
        path = getattr(module, "__file__", None)
        if not isinstance(path, str) or os.path.realpath(path).startswith(own):
            continue
        if path.startswith(roots) and sources.inside(path) is None:
            try:
                status = os.stat(path)
            except OSError:
                continue
            found[path] = [status.st_size, status.st_mtime_ns]
    return found


def environment(packages: list[str]) -> dict[str, Any]:
    """Python and installed distributions, by their own records."""
    total = hashlib.sha256()
    versions = {}
    for distribution in sorted(
        importlib.metadata.distributions(), key=lambda item: item.metadata["Name"].lower()
    ):
        name, record = distribution.metadata["Name"], distribution.read_text("RECORD") or ""
        total.update(f"{name} {distribution.version} {len(record)}\n".encode())
        total.update(record.encode())
        if name.lower() in packages:
            versions[name.lower()] = distribution.version
    return {
        "packages": total.hexdigest(),
        "versions": versions,
        "python": platform.python_version(),
    }


def main() -> None:
    request = json.loads(Path(sys.argv[1]).read_text())
    target = Path(request["answer"])
    text = json.dumps(answer(request))
    temporary = target.with_suffix(".part")
    temporary.write_text(text)
    os.replace(temporary, target)
    # A suite's exit hooks (compile workers, telemetry) have nothing to do in a discovery.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
