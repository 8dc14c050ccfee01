# SPDX-License-Identifier: Apache-2.0
"""The tables of the index, and the rows that are read from them.

A row of `jobs` is one planned job with what lists, leaderboards and metrics ask of its verdict; the
rest stays in verdict.json. The tables below `sums` are kept up to date by whoever writes, so that a
scrape does not walk through a year of jobs.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from bench_runner.contract.status import Mode, Status

VERSION = 1
"""Another one for each change of SCHEMA or of what its columns mean: the index begins anew then."""

SCHEMA = """
CREATE TABLE state (generation INTEGER NOT NULL);
INSERT INTO state VALUES (abs(random() % 1000000000000));

CREATE TABLE runs (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    created_at TEXT NOT NULL DEFAULT '',
    backend TEXT NOT NULL DEFAULT '',
    executor TEXT NOT NULL DEFAULT '',
    jobs INTEGER NOT NULL DEFAULT 0,
    open_jobs INTEGER NOT NULL DEFAULT 0,  -- without a verdict
    active INTEGER NOT NULL DEFAULT 0,     -- a living runner has it
    plan_ns INTEGER NOT NULL,              -- when run.json was written
    bytes INTEGER,                         -- on disk; NULL until measured
    problem TEXT,                          -- why it cannot be read
    culprit TEXT,                          -- the file that is to blame, below the run's folder
    culprit_ns INTEGER
);

CREATE TABLE subjects (
    id INTEGER PRIMARY KEY,
    operator TEXT NOT NULL,
    backend TEXT NOT NULL,
    device TEXT NOT NULL,
    candidate TEXT NOT NULL,               -- identity(); baseline where there is none
    UNIQUE (operator, backend, device, candidate)
);

CREATE TABLE files (                       -- candidates' files as they were planned
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,             -- empty for a baseline
    lowered TEXT NOT NULL
);

CREATE TABLE jobs (
    run INTEGER NOT NULL,
    position INTEGER NOT NULL,             -- in the plan
    id TEXT NOT NULL,
    subject INTEGER NOT NULL,
    mode TEXT NOT NULL,
    file INTEGER NOT NULL,
    written INTEGER,                       -- when verdict.json was written; NULL: no verdict
    status TEXT,
    reason TEXT,
    warning TEXT,
    finished_at TEXT,
    attempts INTEGER,
    expected INTEGER,
    passed INTEGER,
    seconds REAL,                          -- start to judged
    speedup REAL,
    cases INTEGER NOT NULL DEFAULT 0,      -- that were timed
    case_set TEXT,                         -- hash of their names
    candidate_ms REAL,                     -- geometric means over them
    baseline_ms REAL,
    worst REAL,                            -- speed-up of the case that gains least
    PRIMARY KEY (run, position)
) WITHOUT ROWID;
CREATE INDEX jobs_of_subject ON jobs (subject, mode, finished_at);
CREATE INDEX jobs_of_file ON jobs (file);
CREATE INDEX jobs_by_end ON jobs (finished_at, status, subject);
CREATE INDEX jobs_with_a_reason ON jobs (reason) WHERE reason <> '';
CREATE INDEX timed_jobs ON jobs (subject, finished_at, case_set, candidate_ms, speedup)
    WHERE cases > 0 AND status = 'PASSED';

CREATE TABLE newest (                      -- the newest final verdict of a subject in a mode
    subject INTEGER NOT NULL,
    mode TEXT NOT NULL,
    run INTEGER NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (subject, mode)
) WITHOUT ROWID;

CREATE TABLE ended (                       -- sums: jobs by how they ended
    status TEXT NOT NULL, backend TEXT NOT NULL, operator TEXT NOT NULL, mode TEXT NOT NULL,
    jobs INTEGER NOT NULL,
    PRIMARY KEY (status, backend, operator, mode)
) WITHOUT ROWID;

CREATE TABLE phases (                      -- sums: where the time of jobs went
    backend TEXT NOT NULL, mode TEXT NOT NULL, phase TEXT NOT NULL, bucket INTEGER NOT NULL,
    jobs INTEGER NOT NULL, nanoseconds INTEGER NOT NULL,
    PRIMARY KEY (backend, mode, phase, bucket)
) WITHOUT ROWID;

CREATE TABLE spent (                       -- what each run contributes to the two
    run INTEGER PRIMARY KEY,
    sums TEXT NOT NULL
);
"""

JOB_QUERY = """
SELECT r.id run, j.position, j.id, s.operator, s.backend, s.device, s.candidate, j.mode, f.path,
       j.status, j.reason, j.warning, j.finished_at, j.attempts, j.expected, j.passed, j.seconds,
       j.speedup, j.cases, j.case_set, j.candidate_ms, j.baseline_ms, j.worst
FROM jobs j JOIN subjects s ON s.id = j.subject JOIN runs r ON r.number = j.run
     JOIN files f ON f.id = j.file
"""


@dataclass(frozen=True)
class JobRow:
    """A planned job and the outline of its verdict."""

    run: str
    position: int
    id: str
    operator: str
    backend: str
    device: str
    candidate: str
    """`identity` of the candidate."""
    mode: Mode
    path: str
    """The candidate's file as it was planned; empty for a baseline."""
    status: Status | None
    """None while it has no verdict."""
    reason: str
    warning: str
    """The first of them."""
    finished_at: str
    attempts: int
    expected: int | None
    """Cases or tests that the judge counted; None where it counted none."""
    passed: int | None
    seconds: float
    speedup: float | None
    cases: int
    """Benchmark cases that were timed."""
    case_set: str
    """Hash of their names: two benchmarks with one hash timed the same cases."""
    candidate_ms: float | None
    """Time of a call, geometric mean over the cases."""
    baseline_ms: float | None
    worst: float | None

    @property
    def file(self) -> str:
        return self.path.rsplit("/", 1)[-1]

    @property
    def label(self) -> str:
        """The candidate for people, as `Candidate.label` writes it."""
        if not self.path:
            return "(baseline)"
        stem, function = self.file.removesuffix(".py"), self.candidate.partition(":")[2]
        return stem if function == stem else f"{stem}:{function}"


def job_row(row: sqlite3.Row) -> JobRow:
    """A row of JOB_QUERY."""
    values = dict(row)
    values["mode"] = Mode(values["mode"])
    values["status"] = Status(values["status"]) if values["status"] else None
    for name in ("reason", "warning", "finished_at", "case_set"):
        values[name] = values[name] or ""
    for name in ("attempts", "seconds"):
        values[name] = values[name] or 0
    return JobRow(**values)


@dataclass(frozen=True)
class RunRow:
    """A run in a list."""

    id: str
    created_at: str
    backend: str
    executor: str
    operators: tuple[str, ...]
    jobs: int
    counts: dict[str, int]
    """Status to number of jobs; `not run` for those without a verdict."""
    active: bool

    @property
    def open_jobs(self) -> int:
        return self.counts.get("not run", 0)
