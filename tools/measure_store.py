# SPDX-License-Identifier: Apache-2.0
"""Measures the results server over a large store of generated runs.

::

    python tools/measure_store.py [--runs 2500] [--folder FOLDER]

Makes the store where FOLDER has none, serves it without an index and then with one, and prints the
rows of the table in docs/performance.md: first read, memory, and the median of five of each page.
"""

from __future__ import annotations

import argparse
import hashlib
import http.client
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psutil

from bench_runner.contract.job import Candidate, Environment, Job, Settings
from bench_runner.contract.status import Mode, Status
from bench_runner.contract.verdict import CaseTiming, Check, Phases, RunRecord, Verdict
from bench_runner.store.runs import RunStore
from bench_runner.store.view import StoreView

MODES = (Mode.PREFLIGHT, Mode.CORRECTNESS, Mode.BENCHMARK, Mode.PROFILE)
OPERATORS = ("softmax", "rms_norm", "layer_norm", "mm", "sum")
CANDIDATES = 50
"""Of each operator; with the modes, a thousand pairs whose newest verdict counts."""
PER_RUN = 10
"""Candidates of a run: 40 jobs."""
CASES = 12
READ_S = 300.0
"""Far above what the first read takes on a loaded machine."""


def job(operator: str, candidate: int, mode: Mode) -> Job:
    name = f"{operator}_{candidate:02d}"
    return Job(
        op=operator,
        mode=mode,
        candidate=Candidate(
            path=f"/candidates/{name}.py",
            function=operator,
            sha256=hashlib.sha256(name.encode()).hexdigest(),
        ),
        override=operator,
        settings=Settings(),
        environment=Environment(
            backend="cpu", vendor="cpu", executor="local", suite="b" * 64, device="a CPU"
        ),
    )


def verdict(of: Job, number: int, ended: str) -> Verdict:
    wrong = of.mode is Mode.CORRECTNESS and number % 7 == 0
    measured = of.mode is Mode.BENCHMARK
    mine = 0.5 + (number % 11) * 0.01
    timings = tuple(
        CaseTiming(
            case_id=f"case-{n}",
            dtype="torch.float32",
            shape=f"[{2**n}, 1024]",
            baseline_ms=1.0,
            candidate_ms=mine,
            candidate_blocks_ms=tuple(mine * (1 + 0.001 * block) for block in range(10)),
        )
        for n in range(CASES)
    )
    return Verdict(
        key=of.key,
        job=of,
        status=Status.FAILED if wrong else Status.PASSED,
        reason="2 of 12 tests failed" if wrong else "",
        checks=(Check(name="tests", ok=not wrong),),
        timings=timings if measured else (),
        speedup=1.0 / mine if measured else None,
        phases=Phases(queue_s=0.2, start_s=0.3, import_s=1.5, pytest_s=2.0, collect_s=0.1),
        finished_at=ended,
    )


WHEN = "2026-01-01T00:00:00Z"


def fill(folder: Path, runs: int) -> None:
    """One run each ten minutes, up to now, of ten candidates in four modes.

    Runs of the same candidates differ in their times alone, so their texts are made once.
    """
    store = RunStore(folder)
    first = datetime.now(UTC) - timedelta(minutes=10 * runs)
    groups = [(op, start) for start in range(0, CANDIDATES, PER_RUN) for op in OPERATORS]
    made: dict[int, tuple[str, dict[str, str]]] = {}
    for number in range(runs):
        when = first + timedelta(minutes=10 * number)
        stamp = when.strftime("%Y-%m-%dT%H:%M:%SZ")
        name = f"{when:%Y%m%d-%H%M%S}-{number % 65536:04x}"
        group = number % len(groups)
        if group not in made:
            operator, start = groups[group]
            jobs = tuple(job(operator, start + n, mode) for n in range(PER_RUN) for mode in MODES)
            line = ("bench-runner", "run")
            run = store.create(RunRecord(id=name, created_at=WHEN, command=line, jobs=jobs))
            for n, one in enumerate(jobs):
                run.write_verdict(verdict(one, start + n // len(MODES), WHEN))
            made[group] = (
                (run.path / "run.json").read_text().replace(name, "RUN_ID"),
                {one.id: (run.job_folder(one) / "verdict.json").read_text() for one in jobs},
            )
        record, verdicts = made[group]
        path = store.root / name
        for of, text in verdicts.items():
            (path / "jobs" / of).mkdir(parents=True, exist_ok=True)
            (path / "jobs" / of / "verdict.json").write_text(text.replace(WHEN, stamp))
        (path / "run.json").write_text(record.replace("RUN_ID", name).replace(WHEN, stamp))


def get(port: int, path: str) -> tuple[int, float]:
    """The status, and the milliseconds from the request to the last byte."""
    begin = time.perf_counter()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=READ_S)
    connection.request("GET", path)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status, (time.perf_counter() - begin) * 1e3


class Served:
    """`bench-runner serve` over a folder, ended when the block is left."""

    def __init__(self, folder: Path, port: int) -> None:
        self._line = [sys.executable, "-m", "bench_runner", "serve"]
        self._line += ["--runs-dir", str(folder), "--port", str(port)]
        self.port = port

    def __enter__(self) -> Served:
        self.begin = time.perf_counter()
        self.process = subprocess.Popen(
            self._line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait()

    def until_scraped(self) -> float:
        """Seconds from the start until /metrics answers."""
        while time.perf_counter() - self.begin < READ_S:
            if self.process.poll() is not None:
                raise SystemExit("the server ended: is the port free?")
            try:
                if get(self.port, "/metrics")[0] == 200:
                    return time.perf_counter() - self.begin
            except OSError:
                pass
            time.sleep(0.1)
        raise SystemExit(f"no scrape within {READ_S:.0f} s")

    @property
    def memory_mb(self) -> float:
        return float(psutil.Process(self.process.pid).memory_info().rss) / 1e6


def pages(folder: Path) -> dict[str, str]:
    view = StoreView(folder)
    run = view.find_runs(limit=1)[1][0].id
    row = next(row for row in view.jobs_of(run) if row.mode is Mode.BENCHMARK)
    operator = OPERATORS[0]
    sha256 = hashlib.sha256(f"{operator}_00".encode()).hexdigest()
    return {
        "runs, first page": "/",
        "runs, page 40": "/?page=40",
        "runs with a text that none has": "/?text=nowhere",
        "runs by status and operator": f"/?status=FAILED&operator={operator}",
        "a run": f"/runs/{run}",
        "a job": f"/runs/{run}/jobs/{row.id}",
        "operators": "/operators",
        "an operator": f"/operators/{operator}",
        "a candidate": f"/operators/{operator}/candidates/{sha256[:12]}:{operator}",
        "/metrics": "/metrics",
    }


def measure(folder: Path, port: int) -> None:
    for file in folder.glob(".index.sqlite*"):
        file.unlink()
    with Served(folder, port) as served:
        print(f"| first read, until /metrics answers | {served.until_scraped() * 1e3:.0f} |")
    with Served(folder, port) as served:
        print(
            f"| start with an index, until /metrics answers | {served.until_scraped() * 1e3:.0f} |"
        )
        for what, path in pages(folder).items():
            answers = [get(port, path) for _ in range(5)]
            wrong = [status for status, _ in answers if status != 200]
            took = statistics.median(ms for _, ms in answers)
            print(f"| {what} | {f'answers {wrong[0]}' if wrong else f'{took:.0f}'} |", flush=True)
        print(f"memory after it: {served.memory_mb:.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=2500, help="40 jobs each")
    parser.add_argument("--folder", type=Path, help="kept; a temporary folder where not given")
    parser.add_argument("--port", type=int, default=8123)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        if not any(folder.glob("*/run.json")):
            fill(folder, arguments.runs)
        measure(folder, arguments.port)


if __name__ == "__main__":
    main()
