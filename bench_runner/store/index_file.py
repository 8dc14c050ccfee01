# SPDX-License-Identifier: Apache-2.0
"""The SQLite file beside the runs: opened, checked, made anew.

It holds nothing that is not in the run folders. So whatever is wrong with it (deleted, cut short,
of another version) has one remedy: begin an empty one, which the next refresh fills. Where the
folder of runs cannot be written to, the file is private to the process and goes with it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import sqlite3
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path

from bench_runner.store.schema import SCHEMA, VERSION

NAME = ".index.sqlite"
GATE = ".index.lock"
BUSY_MS = 30_000
"""How long a writer waits for another process's transaction; those last milliseconds."""
SIDE_FILES = ("-wal", "-shm")


class IndexDamaged(Exception):
    """What SQLite found cannot be used."""


class IndexFile:
    """Connections to the index of the runs below `root`, one a thread.

    Args:
        tell: gets the one line that says that the index begins anew, and why.
    """

    def __init__(self, root: Path, tell: Callable[[str], None]) -> None:
        self.root = root
        self._tell = tell
        self._local = threading.local()
        self.private = not _writable(root)
        folder = root
        if self.private:
            folder = Path(tempfile.mkdtemp(prefix="bench-runner-index-"))
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self.path = folder / NAME
        self._gate = folder / GATE
        self._checked: tuple[int, int] | None = None

    def connection(self) -> sqlite3.Connection:
        """This thread's connection to the file that is there now.

        Raises:
            IndexDamaged: even a new file cannot be used.
        """
        known = getattr(self._local, "known", None)
        if known is not None and known[1] == _inode(self.path):
            return known[0]
        if known is not None:
            known[0].close()
            self._local.known = None
        for last in (False, True):
            try:
                with self._gated(fcntl.LOCK_SH):
                    connection = self._open()
                    self._local.known = (connection, _inode(self.path))
                return connection
            except IndexDamaged as error:
                if last:
                    raise
                self.begin_anew(str(error))
        raise AssertionError("unreachable")

    def begin_anew(self, why: str) -> None:
        """Puts an empty index in the place of the present one."""
        broken = _inode(self.path)
        with self._gated(fcntl.LOCK_EX):
            if _inode(self.path) != broken:
                return
            self.close()
            # Where there was none, nobody lost anything.
            if why:
                self._tell(f"the index of {self.root} begins anew: {why}")
            self.replace(self.make_empty())

    def make_empty(self) -> Path:
        """An empty index under a name of its own, in the same folder."""
        descriptor, name = tempfile.mkstemp(dir=self.path.parent, prefix=f"{NAME}.")
        os.close(descriptor)
        os.chmod(name, 0o644)
        connection = sqlite3.connect(name, isolation_level=None)
        try:
            # Lost in a power cut, it is made again.
            connection.execute("PRAGMA synchronous = OFF")
            connection.executescript(SCHEMA)
            connection.execute(f"PRAGMA user_version = {VERSION}")
            connection.execute("PRAGMA journal_mode = WAL")
        finally:
            connection.close()
        return Path(name)

    def replace(self, new: Path) -> None:
        """Renames `new` to the index. Connections elsewhere see that their file has moved."""
        for suffix in SIDE_FILES:
            # First the old log: beside the new file it would be replayed into that.
            Path(f"{self.path}{suffix}").unlink(missing_ok=True)
        os.replace(new, self.path)

    def close(self) -> None:
        """Closes this thread's connection."""
        known = getattr(self._local, "known", None)
        if known is not None:
            self._local.known = None
            known[0].close()

    def _open(self) -> sqlite3.Connection:
        if not self.path.exists():
            raise IndexDamaged("")
        connection = connect(self.path)
        found = _inode(self.path)
        if found != self._checked:
            try:
                check(connection)
            except IndexDamaged:
                connection.close()
                raise
            self._checked = found
        return connection

    @contextlib.contextmanager
    def _gated(self, how: int) -> Iterator[None]:
        """Nobody opens the file while another process replaces it."""
        descriptor = os.open(self._gate, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(descriptor, how)
            yield
        finally:
            os.close(descriptor)


def connect(path: Path) -> sqlite3.Connection:
    """A connection with this project's settings; nothing is read yet.

    Raises:
        IndexDamaged: it is no database.
    """
    connection = sqlite3.connect(
        path, isolation_level=None, timeout=BUSY_MS / 1000, check_same_thread=False
    )
    connection.row_factory = sqlite3.Row
    try:
        # A power cut can lose the last transactions, which the next refresh makes again, and
        # nothing else: so not every commit needs to reach the disk.
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA journal_mode = WAL")
    except sqlite3.DatabaseError as error:
        connection.close()
        raise IndexDamaged(str(error)) from error
    return connection


def check(connection: sqlite3.Connection) -> None:
    """Raises IndexDamaged unless the file is whole and of this program's version."""
    try:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (problem,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.DatabaseError as error:
        raise IndexDamaged(str(error)) from error
    if version != VERSION:
        raise IndexDamaged(f"it has version {version}, this program makes version {VERSION}")
    if problem != "ok":
        raise IndexDamaged(str(problem).splitlines()[0])


def is_damage(error: sqlite3.Error) -> bool:
    """Whether an error means that the file is broken, and not that it is busy or the disk full."""
    code = getattr(error, "sqlite_errorcode", None)
    broken = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_SCHEMA}
    return code is not None and code & 0xFF in broken


def _inode(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _writable(root: Path) -> bool:
    files = [root / NAME, *(root / f"{NAME}{suffix}" for suffix in SIDE_FILES), root / GATE]
    return (
        root.is_dir()
        and os.access(root, os.W_OK | os.X_OK)
        and all(os.access(file, os.R_OK | os.W_OK) for file in files if file.exists())
    )
