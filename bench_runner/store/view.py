# SPDX-License-Identifier: Apache-2.0
"""All runs of a store, answered from its index, which is kept like the folders.

For readers of many runs: the results server, the exporter, lists and comparisons. Whoever wants one
run's records in full opens its folder.
"""

from __future__ import annotations

import contextlib
import sqlite3
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

from bench_runner.contract.job import Job
from bench_runner.contract.verdict import Verdict
from bench_runner.store.index_file import IndexDamaged, IndexFile, is_damage
from bench_runner.store.reading import identity
from bench_runner.store.refresh import Refresher
from bench_runner.store.runs import RunFolder, RunStore, open_folder
from bench_runner.store.schema import JOB_QUERY, JobRow, RunRow, job_row
from bench_runner.store.totals import Totals

__all__ = ["JobRow", "JobView", "RunRow", "StoreView", "identity"]
T = TypeVar("T")
MEASURING_S = 0.02
"""What a refresh may spend on measuring runs on disk, of the 0.2 s that a page may take."""
FITTING = "SELECT j.run FROM jobs j JOIN subjects s ON s.id = j.subject"


@dataclass(frozen=True)
class JobView:
    """A planned job and its verdict, if it has one, in full."""

    run: str
    id: str
    job: Job
    verdict: Verdict | None


class Benchmarked(NamedTuple):
    """A benchmark that passed."""

    operator: str
    backend: str
    device: str
    candidate: str
    case_set: str
    candidate_ms: float
    speedup: float | None


def to_stderr(line: str) -> None:
    print(f"bench-runner: {line}", file=sys.stderr, flush=True)


class StoreView:
    """The runs below one folder. Safe from several threads.

    Args:
        tell: gets the lines that a person has to know: that the index begins anew, and why.
    """

    def __init__(self, root: Path, tell: Callable[[str], None] = to_stderr) -> None:
        self.store = RunStore(root)
        self._tell = tell
        self._index = IndexFile(self.store.root, tell)
        self._refresher = Refresher(self.store.root, self._note_progress)
        self._lock = threading.Lock()
        self._kept: dict[Hashable, Any] = {}
        self._kept_of = -1
        self.pending: tuple[int, int] | None = None
        """While many runs are read for the first time: how many of how many have been."""
        self.in_background = False
        """Whether somebody else refreshes: questions are then answered from what is there."""

    def refresh(self) -> None:
        """Takes in what is new or changed, and forgets what is gone."""
        if self.in_background:
            return
        with self._lock:
            self._mended(lambda: self._refresher.refresh(self._index.connection()))
            self.pending = None
            # So that a run is measured soon after it has ended, whoever asks for what.
            self._mended(lambda: self._refresher.measure(self._index.connection(), MEASURING_S))

    def measure(self, seconds: float = float("inf")) -> bool:
        """Measures runs on disk for so long; answers whether none is left to be measured."""
        with self._lock:
            return self._mended(lambda: self._refresher.measure(self._index.connection(), seconds))

    def fill_in_background(self) -> None:
        """Refreshes and measures in a thread of its own, so that a server answers meanwhile."""
        self.in_background = True

        def fill() -> None:
            try:
                with self._lock:
                    self._mended(lambda: self._refresher.refresh(self._index.connection()))
            finally:
                self.pending = None
                self.in_background = False
            while not self.measure(MEASURING_S):
                time.sleep(MEASURING_S)

        threading.Thread(target=fill, name="index", daemon=True).start()

    def rebuild(self) -> None:
        """Reads every run again, into a new index that takes the place of the present one."""
        with self._lock:
            self._index.begin_anew("it was asked for")
            self._refresher = Refresher(self.store.root, self._note_progress)
            self._mended(lambda: self._refresher.refresh(self._index.connection()))

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        """Every question inside is answered from one state of the store."""
        connection = self._index.connection()
        connection.execute("BEGIN")
        try:
            yield
        finally:
            # Closed where the index had to begin anew meanwhile.
            with contextlib.suppress(sqlite3.ProgrammingError):
                connection.execute("COMMIT")

    # Questions. Each is one query, by an index of the table or over rows of a few.

    def count_runs(self) -> int:
        return int(self._rows("SELECT count(*) n FROM runs WHERE problem IS NULL")[0]["n"])

    @property
    def unreadable(self) -> dict[str, str]:
        """Run id to the one line that says why it is left out."""
        rows = self._rows("SELECT id, problem FROM runs WHERE problem IS NOT NULL ORDER BY id")
        return {row["id"]: row["problem"] for row in rows}

    def find_runs(
        self,
        operator: str = "",
        backend: str = "",
        status: str = "",
        text: str = "",
        limit: int = -1,
        offset: int = 0,
    ) -> tuple[int, list[RunRow]]:
        """How many runs have a job that fits every filter, and a page of them, newest first.

        Args:
            status: a status, or `not run`.
            text: part of the run's id, of a candidate's file or of a reason, in any case.
        """
        fits: list[str] = []
        values: list[object] = []
        for name, value in (("s.operator", operator), ("s.backend", backend)):
            if value:
                fits.append(f"{name} = ?")
                values.append(value)
        if status:
            fits.append("coalesce(j.status, 'not run') = ?")
            values.append(status)
        where = "problem IS NULL"
        if text:
            # Three questions, each with an index of its own.
            wanted, found, of_all = text.lower(), [], values
            values = []
            for place in (
                "j.run IN (SELECT number FROM runs WHERE instr(id, ?))",
                "j.file IN (SELECT id FROM files WHERE instr(lowered, ?))",
                "j.reason <> '' AND instr(lower(j.reason), ?)",
            ):
                found.append(f"{FITTING} WHERE {' AND '.join([place, *fits])}")
                values += [wanted, *of_all]
            where += f" AND number IN ({' UNION '.join(found)})"
        elif fits:
            where += f" AND number IN ({FITTING} WHERE {' AND '.join(fits)})"
        total = int(self._rows(f"SELECT count(*) n FROM runs WHERE {where}", *values)[0]["n"])
        rows = self._rows(
            f"SELECT * FROM runs WHERE {where} ORDER BY id DESC LIMIT ? OFFSET ?",
            *values, limit, offset,
        )  # fmt: skip
        return total, self._run_rows(rows)

    def run(self, run: str) -> RunRow | None:
        rows = self._rows("SELECT * FROM runs WHERE problem IS NULL AND id = ?", run)
        return next(iter(self._run_rows(rows)), None)

    def jobs_of(self, run: str) -> list[JobRow]:
        """In the order of the plan."""
        return self._jobs("WHERE r.id = ? ORDER BY j.position", run)

    def newest(self, operator: str = "") -> list[JobRow]:
        """The newest final verdict of each candidate in each mode on each device."""
        where = "WHERE s.operator = ?" if operator else ""
        return self._jobs(
            f"JOIN newest n ON n.run = j.run AND n.position = j.position {where}"
            " ORDER BY s.operator, s.backend, s.device, s.candidate, j.position",
            *([operator] if operator else []),
        )

    def history(self, operator: str, candidate: str, limit: int = -1) -> list[JobRow]:
        """Jobs of a candidate, newest run first."""
        return self._jobs(
            "WHERE s.operator = ? AND s.candidate = ? ORDER BY r.id DESC, j.position LIMIT ?",
            operator, candidate, limit,
        )  # fmt: skip

    def count_history(self, operator: str, candidate: str) -> int:
        """Runs that a candidate is in."""
        return int(
            self._rows(
                "SELECT count(DISTINCT j.run) n FROM jobs j JOIN subjects s ON s.id = j.subject"
                " WHERE s.operator = ? AND s.candidate = ?",
                operator, candidate,
            )[0]["n"]
        )  # fmt: skip

    def benchmarks(self) -> list[Benchmarked]:
        """Every benchmark that passed, by subject, oldest first."""
        return [
            Benchmarked(*row)
            for row in self._rows(
                "SELECT s.operator, s.backend, s.device, s.candidate, j.case_set, j.candidate_ms,"
                " j.speedup FROM jobs j JOIN subjects s ON s.id = j.subject"
                " WHERE j.cases > 0 AND j.status = 'PASSED' ORDER BY j.subject, j.finished_at"
            )
        ]

    def operators(self) -> list[str]:
        return self._names("operator")

    def backends(self) -> list[str]:
        return self._names("backend")

    def candidates(self, operator: str) -> list[str]:
        rows = self._rows(
            "SELECT DISTINCT candidate FROM subjects WHERE operator = ?"
            " AND id IN (SELECT subject FROM newest) ORDER BY 1",
            operator,
        )
        return [row["candidate"] for row in rows]

    def totals(self) -> Totals:
        """Sums over all jobs with a verdict."""
        found = Totals()
        for *ended, number in map(tuple, self._rows("SELECT * FROM ended")):
            found.ended[tuple(ended)] = number
        for *bucket, number, nanoseconds in map(tuple, self._rows("SELECT * FROM phases")):
            found.jobs[tuple(bucket)] = number
            found.nanoseconds[tuple(bucket)] = nanoseconds
        return found

    def activity(self) -> dict[str, Counter[str]]:
        """By backend: living runs (`active`), and jobs without a verdict that wait for a living
        runner (`waiting`) or have none (`abandoned`)."""
        found: dict[str, Counter[str]] = {}
        for row in self._rows(
            "SELECT backend, sum(active) active, sum(iif(active, open_jobs, 0)) waiting,"
            " sum(iif(active, 0, open_jobs)) abandoned"
            " FROM runs WHERE problem IS NULL GROUP BY backend"
        ):
            found[row["backend"]] = Counter(
                {name: row[name] for name in ("active", "waiting", "abandoned")}
            )
        return found

    def ended_since(self, when: str) -> Counter[tuple[str, str]]:
        """Backend and status to the number of jobs that ended since a time (UTC, ISO 8601)."""
        rows = self._rows(
            "SELECT s.backend, j.status, count(*) n FROM jobs j JOIN subjects s ON s.id = j.subject"
            " WHERE j.finished_at >= ? GROUP BY 1, 2",
            when,
        )
        return Counter({(row["backend"], row["status"]): row["n"] for row in rows})

    def last_ends(self) -> dict[tuple[str, bool], str]:
        """Backend, and whether only PASSED counts, to when a job last ended."""
        return self.keep("last ends", self._last_ends)

    def _last_ends(self) -> dict[tuple[str, bool], str]:
        found: dict[tuple[str, bool], str] = {}
        for row in self._rows(
            "SELECT s.backend, max(j.finished_at) ended,"
            " max(iif(j.status = 'PASSED', j.finished_at, NULL)) passed"
            " FROM jobs j JOIN subjects s ON s.id = j.subject"
            " WHERE j.finished_at IS NOT NULL GROUP BY s.backend"
        ):
            found[row["backend"], False] = row["ended"]
            if row["passed"]:
                found[row["backend"], True] = row["passed"]
        return found

    def size(self) -> int | None:
        """Bytes that the runs take on the disk; None until all have been measured."""
        row = self._rows(
            "SELECT coalesce(sum(bytes), 0) total, count(*) - count(bytes) unknown FROM runs"
        )[0]
        return None if row["unknown"] else int(row["total"])

    def sizes(self) -> dict[str, int]:
        """Run to the bytes that it takes; those alone that have been measured."""
        rows = self._rows("SELECT id, bytes FROM runs WHERE bytes IS NOT NULL")
        return {row["id"]: row["bytes"] for row in rows}

    # Records in full, from the folders.

    def folder(self, run: str) -> Path:
        return self.store.root / run

    def open(self, run: str) -> RunFolder:
        return open_folder(self.folder(run))

    def load(self, run: str, job_id: str) -> JobView | None:
        """A job with its whole verdict."""
        if not any(job.id == job_id for job in self.jobs_of(run)):
            return None
        folder = self.open(run)
        job = next((job for job in folder.record.jobs if job.id == job_id), None)
        return JobView(run, job_id, job, folder.verdict(job)) if job else None

    def keep(self, question: Hashable, answer: Callable[[], T]) -> T:
        """An answer that holds until the store changes."""
        (generation,) = self._index.connection().execute("SELECT generation FROM state").fetchone()
        if generation != self._kept_of:
            self._kept, self._kept_of = {}, generation
        kept = self._kept
        if question not in kept:
            kept[question] = answer()
        return cast(T, kept[question])

    def _rows(self, query: str, *values: object) -> list[sqlite3.Row]:
        return self._mended(lambda: self._index.connection().execute(query, values).fetchall())

    def _jobs(self, rest: str, *values: object) -> list[JobRow]:
        return [job_row(row) for row in self._rows(JOB_QUERY + rest, *values)]

    def _names(self, column: str) -> list[str]:
        rows = self._rows(
            f"SELECT DISTINCT {column} name FROM subjects s"
            " WHERE EXISTS (SELECT 1 FROM jobs WHERE subject = s.id) ORDER BY 1"
        )
        return [row["name"] for row in rows]

    def _run_rows(self, rows: Iterable[sqlite3.Row]) -> list[RunRow]:
        rows = list(rows)
        ids = [row["id"] for row in rows]
        marks = ", ".join("?" * len(ids))
        counts: dict[str, dict[str, int]] = {run: {} for run in ids}
        operators: dict[str, set[str]] = {run: set() for run in ids}
        for found in self._rows(
            "SELECT r.id run, coalesce(j.status, 'not run') word, s.operator, count(*) n"
            " FROM runs r JOIN jobs j ON j.run = r.number JOIN subjects s ON s.id = j.subject"
            f" WHERE r.id IN ({marks}) GROUP BY 1, 2, 3 ORDER BY 2",
            *ids,
        ):
            of_run = counts[found["run"]]
            of_run[found["word"]] = of_run.get(found["word"], 0) + found["n"]
            operators[found["run"]].add(found["operator"])
        return [
            RunRow(
                row["id"], row["created_at"], row["backend"], row["executor"],
                tuple(sorted(operators[row["id"]])), row["jobs"], counts[row["id"]],
                bool(row["active"]),
            )
            for row in rows
        ]  # fmt: skip

    def _mended(self, work: Callable[[], T]) -> T:
        """Does `work`; where the index turns out to be broken, once more with a new one."""
        try:
            return work()
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise
            why = str(error)
        except IndexDamaged as error:
            why = str(error)
        self._index.begin_anew(why)
        self._refresher = Refresher(self.store.root, self._note_progress)
        self._refresher.refresh(self._index.connection())
        return work()

    def _note_progress(self, done: int, total: int) -> None:
        if self.pending is None and not self.in_background:
            self._tell(f"reading {total} runs into the index")
        self.pending = (done, total)
