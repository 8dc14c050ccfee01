# SPDX-License-Identifier: Apache-2.0
"""Jobs and evidence for tests of the judge, the scheduler and the store."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from bench_runner.contract.claims import CaseList, Expectation
from bench_runner.contract.job import Candidate, Environment, Job, Settings
from bench_runner.contract.outcome import Ending, Outcome
from bench_runner.contract.status import Mode
from bench_runner.contract.verdict import Verdict
from bench_runner.judge.evidence import Evidence
from bench_runner.judge.verdict import judge
from bench_runner.store.artifacts import collect

CASES = ["b.py::t::core::torch.float32::0", "b.py::t::core::torch.float16::0"]
TESTS = ["tests/test_softmax.py::a", "tests/test_softmax.py::b"]


def make_job(
    mode: Mode = Mode.PREFLIGHT,
    path: str = "/c/online.py",
    sha256: str = "a" * 64,
    **settings: Any,
) -> Job:
    candidate = Candidate(path=path, function="softmax", sha256=sha256)
    return Job(
        op="softmax",
        mode=mode,
        candidate=candidate if mode.needs_candidate else None,
        override="softmax" if mode.needs_candidate else None,
        settings=Settings(**settings),
        environment=Environment(
            backend="cpu", vendor="cpu", executor="local", suite="b" * 64, device="a CPU"
        ),
    )


def expectation() -> Expectation:
    cases = [
        {"case_id": case, "ordinal": 0, "dtype": case.split("::")[3], "shape": [4, 4]}
        for case in CASES
    ]
    document = {
        "schema_version": "flaggems.benchmark-case-list/v2",
        "benchmarks": [{"op_name": "softmax", "phase": "timing", "level": "core", "cases": cases}],
    }
    return Expectation(
        op="softmax",
        level="core",
        cases=CaseList.model_validate(document),
        tests=tuple(TESTS),
    )


def conclude(
    folder: Path,
    mode: Mode,
    files: dict[str, Any],
    ending: Ending = Ending.EXITED,
    exit_code: int | None = 0,
    log: str = "",
    finished: bool = True,
    foreign_cores: float | None = None,
    baseline_skips: frozenset[str] = frozenset(),
) -> Verdict:
    """Judges a job that left ``files`` (values are written as JSON, strings as they are)."""
    out = folder / "out"
    out.mkdir()
    start = time.time() - 5
    if finished:
        files = {
            "timeline.json": {"imported": start + 2, "pytest_end": start + 4},
            "supervisor.json": {"first_line": start + 1},
            **files,
        }
    for name, content in files.items():
        text = content if isinstance(content, str) else json.dumps(content)
        (out / name).write_text(text)
    outcome = Outcome(
        ending, start, start + 4.5, exit_code, "the reason why", foreign_cores=foreign_cores
    )
    collected = collect(out, folder / "artifacts")
    evidence = Evidence(make_job(mode), outcome, collected, expectation(), log, baseline_skips)
    return judge(evidence, 0.5, 1)
