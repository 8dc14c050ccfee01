# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of kernels on other Triton versions than the environment's.

A version is laid into a folder of its own and put in front of the environment's, which stays as it
is: `python tools/triton_versions.py` (or `make test-triton-versions`).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSIONS = ("3.6.0", "3.9.0")
"""The oldest that triton_cpu supports and the newest that it was proven on."""
TESTS = (
    "tests/unit/triton_cpu",
    *sorted(str(p.relative_to(ROOT)) for p in ROOT.glob("tests/test_*.py")),
)


def lay(version: str, folder: Path) -> Path:
    """The folder that holds this version of Triton; installed there on the first call."""
    target = folder / version
    if (target / "triton").is_dir():
        return target
    unfinished = folder / f".{version}"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--upgrade"]
    subprocess.run([*pip, "--target", str(unfinished), f"triton=={version}"], check=True)
    unfinished.rename(target)
    return target


def run(version: str, folder: Path, options: list[str]) -> int:
    """Runs the tests on one version; the exit code is pytest's."""
    environment = {**os.environ, "PYTHONPATH": str(lay(version, folder))}
    says = [sys.executable, "-c", "import triton; print(triton.__version__)"]
    found = subprocess.run(
        says, env=environment, cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()
    if found != version:
        raise SystemExit(f"{folder / version} was to be Triton {version} and is {found}: delete it")
    print(f"Triton {version}", flush=True)
    pytest = [sys.executable, "-m", "pytest", "-q", *TESTS, "--quick", *options]
    return subprocess.run(pytest, env=environment, cwd=ROOT, check=False).returncode


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--version", action="append", help="Repeatable.", dest="versions")
    parser.add_argument("--folder", type=Path, default=ROOT / ".venv" / "triton-versions")
    arguments, options = parser.parse_known_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    codes = [run(version, arguments.folder, options) for version in arguments.versions or VERSIONS]
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
