# SPDX-License-Identifier: Apache-2.0
"""Keeping what a job prints: live, and bounded however much it prints."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

HEAD_BYTES = 512 << 10
TAIL_BYTES = 512 << 10


class CappedLog:
    """Writes the first bytes through as they come and keeps the last ones until closed.

    The middle is counted and dropped: the reader never stops reading, so a candidate that prints
    without end neither blocks nor fills the disk.
    """

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb", buffering=0)
        self._room = HEAD_BYTES
        self._tail = bytearray()
        self._dropped = 0

    def write(self, data: bytes) -> None:
        head, rest = data[: self._room], data[self._room :]
        if head:
            self._file.write(head)
            self._room -= len(head)
        self._tail += rest
        excess = len(self._tail) - TAIL_BYTES
        if excess > 0:
            del self._tail[:excess]
            self._dropped += excess

    def close(self) -> None:
        if self._file.closed:
            return
        if self._dropped:
            self._file.write(f"\n[... {self._dropped} bytes left out ...]\n".encode())
        self._file.write(bytes(self._tail))
        self._file.close()

    def __enter__(self) -> CappedLog:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
