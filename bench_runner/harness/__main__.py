# SPDX-License-Identifier: Apache-2.0
"""Process 1 of a job: starts the session, outlives it, and leaves nothing running.

``python -m bench_runner.harness JOB.json OUT`` runs one session in a child process. It adopts
whatever that session forks into the background and kills it at the end. Where BENCH_LIFELINE is
set, standard input is a lifeline: when the runner dies its end closes, and the job ends with it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time

from bench_runner.harness import counters
from bench_runner.harness.claim_file import write_claim
from bench_runner.harness.descendants import adopt_orphans, kill_descendants
from bench_runner.harness.session import COUNTED

FIRST_LINE = time.time()


def end_with(code: int) -> None:
    """Ends the job at once and with everything in it."""
    kill_descendants(os.getpid())
    os._exit(code)


def hold_lifeline() -> None:
    while os.read(0, 4096):
        pass
    end_with(128 + signal.SIGHUP)


def run(command: list[str]) -> int:
    """Exit code of a child in a process group of its own; negative for a signal."""
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    while True:
        pid, wait_status = os.waitpid(-1, 0)
        if pid == child.pid:
            # Reaped here and not by subprocess, which would otherwise wait for it again.
            child.returncode = os.waitstatus_to_exitcode(wait_status)
            return child.returncode


def main(argv: list[str]) -> int:
    job_path, out = argv
    adopt_orphans()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda received, _: end_with(128 + received))
    if os.environ.pop("BENCH_LIFELINE", None):
        threading.Thread(target=hold_lifeline, daemon=True).start()

    write_claim(out, "supervisor.json", {"first_line": FIRST_LINE})
    session = [sys.executable, "-m", "bench_runner.harness.session", job_path, out]
    code = run(session)
    stragglers = kill_descendants(os.getpid())
    with open(job_path, encoding="utf-8") as file:
        profiler = json.load(file).get("counters")
    readings = {"first_line": FIRST_LINE}
    if code == 0 and profiler:
        counters.collect(profiler, [*session, COUNTED], out, run)
        stragglers += kill_descendants(os.getpid())
        readings["counters_end"] = time.time()
    write_claim(out, "supervisor.json", {**readings, "stragglers": stragglers})
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
