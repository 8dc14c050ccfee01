# SPDX-License-Identifier: Apache-2.0
"""Holds a run of matrix.yaml against expected.yaml.

``bench-runner show RUN --format json | python examples/verify.py`` exits with 0 when every job
ended as it must, else with 1 and one line a difference.
"""

import json
import sys
from pathlib import Path

import yaml


def differences(document: dict, expected: dict[str, dict[str, str]]) -> list[str]:
    """One line for every job that is missing, unknown, or ended otherwise."""
    found = {
        (Path(job["candidate"]["path"]).stem, job["mode"]): job["status"]
        for job in document["jobs"]
        if job["candidate"]
    }
    wanted = {
        (candidate, mode): status
        for candidate, modes in expected.items()
        for mode, status in modes.items()
    }
    return [
        f"{candidate} {mode}: expected {wanted.get(key, 'no such job')}, "
        f"found {found.get(key, 'no such job')}"
        for key in sorted({*found, *wanted})
        if found.get(key) != wanted.get(key)
        for candidate, mode in [key]
    ]


def main() -> int:
    expected = yaml.safe_load((Path(__file__).parent / "expected.yaml").read_text())
    lines = differences(json.load(sys.stdin), expected)
    for line in lines:
        print(line)
    if not lines:
        print(f"all {len(expected)} candidates ended as they must")
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main())
