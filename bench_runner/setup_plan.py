# SPDX-License-Identifier: Apache-2.0
"""Answers setup.sh's questions about a backend, one item a line, so that no shell parses YAML.

`python -m bench_runner.setup_plan BACKEND QUESTION`; the questions are the keys of ANSWERS.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from bench_runner.backends import Backend, BackendsError, load_backends
from bench_runner.images.indexes import choose_indexes

EXTRA_INDEXES_VARIABLE = "BENCH_EXTRA_INDEXES"


def _indexes(backend: Backend) -> list[str]:
    given = os.environ.get(EXTRA_INDEXES_VARIABLE)
    indexes = choose_indexes(backend, extra=None if given is None else tuple(given.split()))
    for url, reason in indexes.left_out:
        print(f"setup.sh: leaving out {url} ({reason})", file=sys.stderr)
    return indexes.pip_arguments()


ANSWERS: dict[str, Callable[[Backend], list[str]]] = {
    "indexes": _indexes,
    "packages": lambda backend: list(backend.packages),
    "packages-after": lambda backend: list(backend.packages_after),
    "cmake-backend": lambda backend: [backend.cmake_backend],
    "environment": lambda backend: backend.shell_environment().splitlines(),
}


def main(arguments: list[str]) -> int:
    """Print the answer; 2 when the table is wrong or the question unknown."""
    try:
        name, question = arguments
        answer = ANSWERS[question](load_backends()[name])
    except BackendsError as error:
        print(error, file=sys.stderr)
        return 2
    except (KeyError, ValueError):
        print(
            f"usage: python -m bench_runner.setup_plan BACKEND {'|'.join(ANSWERS)}", file=sys.stderr
        )
        return 2
    for line in answer:
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
