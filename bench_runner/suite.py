# SPDX-License-Identifier: Apache-2.0
"""Names the suite that judges candidates: where it lies, and the hash of all that sways a verdict.

An image carries the hash as a label, a run records it, and a resumed job is done only
when it is unchanged.
"""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Iterator
from pathlib import Path

from bench_runner.errors import InfrastructureFault

# What runs beside a candidate, and what judges it; relative to the suite's root.
SUITE_FOLDERS = (
    "benchmark",
    "bench_runner/contract",
    "bench_runner/harness",
    "bench_runner/judge",
    "flag_gems",
    "triton_cpu",
)
SUITE_FILES = ("pyproject.toml",)


class SuiteNotFoundError(InfrastructureFault, RuntimeError):
    """No folder with the benchmarks lies beside the installed `flag_gems`."""


def suite_root() -> Path:
    """The folder that holds `benchmark/` beside `flag_gems/`, found without importing either.

    Raises SuiteNotFoundError when flag_gems is not installed or its benchmarks are not beside it.
    """
    spec = importlib.util.find_spec("flag_gems")
    if spec is None or spec.origin is None:
        raise SuiteNotFoundError("flag_gems is not installed; run ./setup.sh BACKEND")
    root = Path(spec.origin).resolve().parent.parent
    if not (root / "benchmark").is_dir():
        raise SuiteNotFoundError(
            f"{root} holds flag_gems but no benchmark/; install it from a checkout with ./setup.sh"
        )
    return root


def suite_fingerprint(root: Path) -> str:
    """SHA-256 (64 hex digits) over the paths and contents of the suite's files under `root`.

    Each path and content is preceded by its length: no two suites share a byte stream.
    """
    digest = hashlib.sha256()
    for path in sorted(_suite_files(root), key=lambda p: p.relative_to(root).as_posix()):
        for part in (path.relative_to(root).as_posix().encode(), path.read_bytes()):
            digest.update(len(part).to_bytes(8, "big"))
            digest.update(part)
    return digest.hexdigest()


def _suite_files(root: Path) -> Iterator[Path]:
    for name in SUITE_FILES:
        yield root / name
    yield from (root / "tests").glob("*.py")
    for folder in SUITE_FOLDERS:
        for path in (root / folder).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".pyc":
                yield path
