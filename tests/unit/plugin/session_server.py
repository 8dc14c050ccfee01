# SPDX-License-Identifier: Apache-2.0
"""Forks pytest sessions from a process that has imported torch and flag_gems already.

Importing them takes ten times as long as most sessions here. Each line of standard input is a JSON
object {arguments, stdout, stderr}; the answer is the session's exit status on a line.
"""

from __future__ import annotations

import json
import os
import sys


def main() -> None:
    sys.path.insert(0, os.getcwd())
    import _pytest.pytester  # noqa: F401
    import xdist.plugin  # noqa: F401

    import flag_gems.testing.benchmark.cases  # noqa: F401

    # Only the plug-in itself is left for the sessions to load, as their conftest does it.
    for name in [name for name in sys.modules if name.startswith("flag_gems.testing")]:
        del sys.modules[name]
    for line in sys.stdin:
        request = json.loads(line)
        child = os.fork()
        if child == 0:
            serve(request)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def serve(request: dict[str, object]) -> None:
    status = 70
    try:
        for number, name in ((1, "stdout"), (2, "stderr")):
            descriptor = os.open(str(request[name]), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            os.dup2(descriptor, number)
        import pytest

        status = int(pytest.main(request["arguments"]))  # type: ignore[arg-type]
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    main()
