# SPDX-License-Identifier: Apache-2.0
"""Finding out what changed below the folder of runs since the index was last written.

Runs without all their verdicts are looked at each time. A finished one can change too (it is
resumed, or somebody edits it), but seldom: of these a slice is looked at each time, so that a look
costs the same in a store of a year as in one of a week. New and deleted runs are seen at once.
"""

from __future__ import annotations

import itertools
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bench_runner.executors.run_lock import is_held
from bench_runner.store.index_writer import IndexWriter
from bench_runner.store.reading import RunReading, read_run, read_verdicts, size_of

SLICE = 2000
"""Finished runs that are looked at each time; 5 ms."""
BATCH = 200
"""Runs in one transaction while many are read: others can write and read in between."""
CLOCK_NS = 2_000_000_000
"""Two changes of a folder within a tick of the file system's clock have one time. The ticks are
some milliseconds; network file systems have seconds."""


@dataclass
class Known:
    """What the index says of a run."""

    plan_ns: int
    open_jobs: int
    active: bool
    culprit: str | None
    culprit_ns: int | None

    @property
    def settled(self) -> bool:
        return self.culprit is None and self.open_jobs == 0 and not self.active


class Refresher:
    """Keeps one index like its folder of runs. One thread at a time."""

    def __init__(self, root: Path, progress: Callable[[int, int], None]) -> None:
        """`progress` is told how many of how many runs have been read, when those are many."""
        self._root = root
        self._progress = progress
        self._generation = -1
        self._known: dict[str, Known] = {}
        self._listed: set[str] = set()
        self._listed_at: tuple[int, int] | None = None
        """The folder's time of change at the listing, and when that was made."""
        self._next = 0

    def refresh(self, connection: sqlite3.Connection) -> None:
        """Takes in what is new or changed, and forgets what is gone."""
        self._recall(connection)
        listed = self._list()
        gone = [run for run in self._known if run not in listed]
        suspects = self._suspects()
        new = sorted((run for run in listed if run not in self._known), reverse=True)
        readings = self._look(new, suspects, connection)
        first = list(itertools.islice(readings, BATCH))
        if not (gone or first):
            return
        done = 0
        while gone or first:
            with IndexWriter(connection) as writer:
                for run in gone:
                    writer.forget(run)
                for reading in first:
                    if isinstance(reading, str):
                        writer.forget(reading)
                    else:
                        writer.put(reading)
            done += len(first)
            if len(new) > BATCH:
                self._progress(min(done, len(new)), len(new))
            gone, first = [], list(itertools.islice(readings, BATCH))
        self._recall(connection)

    def measure(self, connection: sqlite3.Connection, seconds: float) -> bool:
        """Measures finished runs on disk for so long; answers whether none is left."""
        deadline = time.monotonic() + seconds
        query = "SELECT id FROM runs WHERE bytes IS NULL ORDER BY id DESC LIMIT ?"
        while rows := connection.execute(query, (BATCH,)).fetchall():
            sizes = []
            for row in rows:
                sizes.append((size_of(self._root / row["id"]), row["id"]))
                if time.monotonic() > deadline:
                    break
            with IndexWriter(connection) as writer:
                writer.measured(sizes)
            if time.monotonic() > deadline:
                return False
        return True

    def _recall(self, connection: sqlite3.Connection) -> None:
        """Reads what the index knows, unless nobody has written to it since."""
        (generation,) = connection.execute("SELECT generation FROM state").fetchone()
        if generation == self._generation:
            return
        self._known = {
            row["id"]: Known(
                row["plan_ns"], row["open_jobs"], bool(row["active"]), row["culprit"],
                row["culprit_ns"],
            )
            for row in connection.execute(
                "SELECT id, plan_ns, open_jobs, active, culprit, culprit_ns FROM runs"
            )
        }  # fmt: skip
        self._generation = generation

    def _list(self) -> set[str]:
        """Names of folders that are runs, or may become ones."""
        now = time.time_ns()
        try:
            changed = self._root.stat().st_mtime_ns
        except OSError:
            return set()
        if self._listed_at is not None:
            then, at = self._listed_at
            if then == changed and at - then > CLOCK_NS:
                return self._listed
        with os.scandir(self._root) as entries:
            self._listed = {entry.name for entry in entries if not entry.name.startswith(".")}
        self._listed_at = (changed, now)
        return self._listed

    def _suspects(self) -> list[str]:
        """Known runs to look at this time."""
        settled: list[str] = []
        found: list[str] = []
        for run, known in self._known.items():
            (settled if known.settled else found).append(run)
        if self._next >= len(settled):
            self._next = 0
        found += settled[self._next : self._next + SLICE]
        self._next += SLICE
        return found

    def _look(
        self, new: list[str], suspects: list[str], connection: sqlite3.Connection
    ) -> Iterator[RunReading | str]:
        """Readings of what changed, and names of what is gone."""
        for run in suspects:
            try:
                changed = self._look_at(run, self._known[run], connection)
            except (FileNotFoundError, NotADirectoryError):
                yield run
                continue
            if changed is not None:
                yield changed
        for run in new:
            try:
                yield read_run(self._root / run)
            except (FileNotFoundError, NotADirectoryError):
                continue

    def _look_at(self, run: str, known: Known, connection: sqlite3.Connection) -> RunReading | None:
        """What changed of a known run; None where nothing did."""
        folder = self._root / run
        plan_ns = os.stat(f"{folder}/run.json").st_mtime_ns
        if plan_ns != known.plan_ns:
            return read_run(folder)
        if known.culprit is not None:
            try:
                same = (folder / known.culprit).stat().st_mtime_ns == known.culprit_ns
            except OSError:
                same = False
            return None if same else read_run(folder)
        if known.settled:
            return None
        found = RunReading(run, plan_ns, is_held(folder))
        unjudged = connection.execute(
            "SELECT position, id FROM jobs WHERE written IS NULL"
            " AND run = (SELECT number FROM runs WHERE id = ?)",
            (run,),
        ).fetchall()
        read_verdicts(folder, found, [(row["position"], row["id"]) for row in unjudged])
        changed = found.verdicts or found.problem or found.active != known.active
        return found if changed else None
