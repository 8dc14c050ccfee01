# SPDX-License-Identifier: Apache-2.0
"""Process 1 of a job: starts the session, outlives it, and leaves nothing running.

``python -m bench_runner.harness JOB.json OUT`` runs one session in a child process. It adopts
whatever that session forks into the background and kills it at the end. Where BENCH_LIFELINE is
set, standard input is a lifeline: when the runner dies its end closes, and the job ends with it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

from bench_runner.harness.claim_file import write_claim
from bench_runner.harness.descendants import adopt_orphans, kill_descendants

FIRST_LINE = time.time()


def end_with(code: int) -> None:
    """Ends the job at once and with everything in it."""
    kill_descendants(os.getpid())
    os._exit(code)


def hold_lifeline() -> None:
    while os.read(0, 4096):
        pass
    end_with(128 + signal.SIGHUP)


def main(argv: list[str]) -> int:
    job_path, out = argv
    adopt_orphans()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda received, _: end_with(128 + received))
    if os.environ.pop("BENCH_LIFELINE", None):
        threading.Thread(target=hold_lifeline, daemon=True).start()

    write_claim(out, "supervisor.json", {"first_line": FIRST_LINE})
    session = subprocess.Popen(
        [sys.executable, "-m", "bench_runner.harness.session", job_path, out],
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )
    while True:
        pid, wait_status = os.waitpid(-1, 0)
        if pid == session.pid:
            break
    code = os.waitstatus_to_exitcode(wait_status)
    stragglers = kill_descendants(os.getpid())
    write_claim(
        out,
        "supervisor.json",
        {"first_line": FIRST_LINE, "stragglers": stragglers},
    )
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
