# SPDX-License-Identifier: Apache-2.0
"""Putting what was read into the index, a transaction at a time.

Two processes may have read the same run; whoever comes second replaces rows with the same rows.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Any

from bench_runner.contract.status import Status
from bench_runner.contract.verdict import Verdict
from bench_runner.store.reading import RunReading, subject_of, verdict_columns
from bench_runner.store.totals import Totals

FINAL = ", ".join(f"'{status.value}'" for status in Status if status.is_final)
NEWEST = f"""
INSERT INTO newest
SELECT subject, mode, run, position FROM jobs
WHERE subject = ? AND mode = ? AND status IN ({FINAL})
ORDER BY finished_at DESC, (SELECT id FROM runs WHERE number = run) DESC, position LIMIT 1
"""


class IndexWriter:
    """Writes into one index within one transaction; a context manager around it."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._change = Totals()
        self._touched: set[tuple[int, str]] = set()
        """Subjects and modes whose newest verdict may be another one now."""

    def __enter__(self) -> IndexWriter:
        self._connection.execute("BEGIN IMMEDIATE")
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            return
        self._write_sums()
        self._find_newest()
        self._connection.execute("UPDATE state SET generation = generation + 1")
        self._connection.execute("COMMIT")

    def forget(self, run: str) -> None:
        """Takes a run out."""
        number = self._number(run)
        if number is not None:
            self._clear(number)
            self._connection.execute("DELETE FROM runs WHERE number = ?", (number,))

    def put(self, reading: RunReading) -> None:
        """Takes in what a look at a run found."""
        if reading.problem is not None:
            self._put_problem(reading)
        elif reading.record is not None:
            self._put_run(reading)
        else:
            self._add_verdicts(reading)

    def measured(self, sizes: Iterable[tuple[int, str]]) -> None:
        """Bytes and run, of runs that were measured."""
        self._connection.executemany("UPDATE runs SET bytes = ? WHERE id = ?", sizes)

    def _put_problem(self, reading: RunReading) -> None:
        assert reading.problem is not None
        problem = reading.problem
        self.forget(reading.run)
        self._connection.execute(
            "INSERT INTO runs (id, plan_ns, active, problem, culprit, culprit_ns)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (
                reading.run, reading.plan_ns, reading.active, problem.why, problem.culprit,
                problem.culprit_ns,
            ),
        )  # fmt: skip

    def _put_run(self, reading: RunReading) -> None:
        record = reading.record
        assert record is not None
        self.forget(reading.run)
        place = record.jobs[0].environment
        number = self._connection.execute(
            "INSERT INTO runs"
            " (id, created_at, backend, executor, jobs, open_jobs, active, plan_ns)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                reading.run, record.created_at, place.backend, place.executor, len(record.jobs),
                len(record.jobs) - len(reading.verdicts), reading.active, reading.plan_ns,
            ),
        ).lastrowid  # fmt: skip
        assert number is not None
        spent = Totals()
        for position, (job, job_id) in enumerate(zip(record.jobs, reading.ids, strict=True)):
            subject = self._subject(subject_of(job))
            columns: dict[str, Any] = {
                "run": number,
                "position": position,
                "id": job_id,
                "subject": subject,
                "mode": job.mode.value,
                "file": self._file(job.candidate.path if job.candidate else ""),
            }
            if position in reading.verdicts:
                written, verdict = reading.verdicts[position]
                columns |= verdict_columns(written, verdict)
                spent.add(verdict)
                self._touched.add((subject, job.mode.value))
            names = ", ".join(columns)
            marks = ", ".join("?" * len(columns))
            self._connection.execute(
                f"INSERT INTO jobs ({names}) VALUES ({marks})", tuple(columns.values())
            )
        self._spend(number, spent)

    def _add_verdicts(self, reading: RunReading) -> None:
        """Of a run whose plan is known."""
        number = self._number(reading.run)
        row = self._sums(number)
        if number is None or row is None:
            # Another process found it gone or damaged meanwhile; the next look decides.
            return
        spent = Totals.from_text(row["sums"])
        self._change.merge(spent, -1)
        for position, (written, verdict) in reading.verdicts.items():
            known = self._connection.execute(
                "SELECT subject, mode, written FROM jobs WHERE run = ? AND position = ?",
                (number, position),
            ).fetchone()
            if known is None or known["written"] is not None:
                continue
            self._update(number, position, written, verdict)
            spent.add(verdict)
            self._touched.add((known["subject"], known["mode"]))
        self._spend(number, spent)
        self._connection.execute(
            "UPDATE runs SET active = ?2, bytes = NULL, open_jobs ="
            " (SELECT count(*) FROM jobs WHERE run = ?1 AND written IS NULL) WHERE number = ?1",
            (number, reading.active),
        )

    def _update(self, run: int, position: int, written: int, verdict: Verdict) -> None:
        columns = verdict_columns(written, verdict)
        names = ", ".join(f"{name} = ?" for name in columns)
        self._connection.execute(
            f"UPDATE jobs SET {names} WHERE run = ? AND position = ?",
            (*columns.values(), run, position),
        )

    def _spend(self, run: int, spent: Totals) -> None:
        self._change.merge(spent)
        self._connection.execute(
            "INSERT OR REPLACE INTO spent VALUES (?, ?)", (run, spent.as_text())
        )

    def _clear(self, run: int) -> None:
        """Takes out a run's jobs, and what they contributed."""
        row = self._sums(run)
        if row is None:
            return
        self._change.merge(Totals.from_text(row["sums"]), -1)
        self._touched.update(
            (job["subject"], job["mode"])
            for job in self._connection.execute(
                "SELECT DISTINCT subject, mode FROM jobs WHERE run = ?", (run,)
            )
        )
        self._connection.execute("DELETE FROM spent WHERE run = ?", (run,))
        self._connection.execute("DELETE FROM jobs WHERE run = ?", (run,))

    def _number(self, run: str) -> int | None:
        row = self._connection.execute("SELECT number FROM runs WHERE id = ?", (run,)).fetchone()
        return int(row["number"]) if row else None

    def _sums(self, run: int | None) -> sqlite3.Row | None:
        found = self._connection.execute("SELECT sums FROM spent WHERE run = ?", (run,))
        row: sqlite3.Row | None = found.fetchone()
        return row

    def _file(self, path: str) -> int:
        row = self._connection.execute("SELECT id FROM files WHERE path = ?", (path,)).fetchone()
        if row is None:
            made = self._connection.execute(
                "INSERT INTO files (path, lowered) VALUES (?, ?)", (path, path.lower())
            )
            assert made.lastrowid is not None
            return made.lastrowid
        return int(row["id"])

    def _subject(self, names: tuple[str, str, str, str]) -> int:
        query = (
            "SELECT id FROM subjects"
            " WHERE operator = ? AND backend = ? AND device = ? AND candidate = ?"
        )
        row = self._connection.execute(query, names).fetchone()
        if row is None:
            self._connection.execute(
                "INSERT INTO subjects (operator, backend, device, candidate) VALUES (?, ?, ?, ?)",
                names,
            )
            row = self._connection.execute(query, names).fetchone()
        return int(row["id"])

    def _write_sums(self) -> None:
        for ended, number in self._change.ended.items():
            if number:
                self._connection.execute(
                    "INSERT INTO ended VALUES (?, ?, ?, ?, ?)"
                    " ON CONFLICT DO UPDATE SET jobs = jobs + excluded.jobs",
                    (*ended, number),
                )
        for bucket, number in self._change.jobs.items():
            nanoseconds = self._change.nanoseconds[bucket]
            if number or nanoseconds:
                self._connection.execute(
                    "INSERT INTO phases VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET"
                    " jobs = jobs + excluded.jobs,"
                    " nanoseconds = nanoseconds + excluded.nanoseconds",
                    (*bucket, number, nanoseconds),
                )
        self._connection.execute("DELETE FROM ended WHERE jobs = 0")
        self._connection.execute("DELETE FROM phases WHERE jobs = 0")

    def _find_newest(self) -> None:
        for subject, mode in self._touched:
            self._connection.execute(
                "DELETE FROM newest WHERE subject = ? AND mode = ?", (subject, mode)
            )
            self._connection.execute(NEWEST, (subject, mode))
