# SPDX-License-Identifier: Apache-2.0
"""Lists the node ids of an operator's accuracy tests without running one.

``python -m bench_runner.harness.collect OP LEVEL TEST_FILE OUT`` writes OUT/tests.json.
"""

from __future__ import annotations

import sys
from typing import Any

from bench_runner.harness.claim_file import write_claim


class Collected:
    """A pytest plug-in that keeps what was collected after deselection."""

    def __init__(self) -> None:
        self.nodeids: list[str] = []

    def pytest_collection_finish(self, session: Any) -> None:
        self.nodeids = [item.nodeid for item in session.items]


def main(argv: list[str]) -> int:
    op, level, test, out = argv
    import flag_gems  # noqa: F401, I001
    import pytest

    collected = Collected()
    line = ["-q", "--collect-only", "-p", "no:cacheprovider", "-p", "no:xdist", test, "-m", op]
    code = int(pytest.main(line + (["--quick"] if level == "core" else []), plugins=[collected]))
    write_claim(out, "tests.json", {"tests": collected.nodeids})
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
