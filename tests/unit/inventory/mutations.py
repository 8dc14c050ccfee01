# SPDX-License-Identifier: Apache-2.0
"""One edit of a suite each, with the findings that it must cause: these, and no other."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Mutation:
    """``old`` becomes ``new`` in ``file``; further edits follow in ``also``."""

    name: str
    file: str
    old: str
    new: str
    kinds: tuple[str, ...] = ()
    """Kinds of all findings, each as often as it must occur; none for a harmless edit."""
    subject: str = ""
    """Part of the first kind's subject."""
    discover: tuple[str, ...] = ()
    """Files to look at besides the edited one."""
    also: tuple[tuple[str, str, str], ...] = ()
    everywhere: bool = False
    """Replace each occurrence instead of the only one."""

    def apply(self, root: Path) -> None:
        for file, old, new in ((self.file, self.old, self.new), *self.also):
            path = root / file
            text = path.read_text()
            count = text.count(old)
            assert count == 1 or (count and self.everywhere), (
                f"{self.name}: {old!r} occurs {count} times in {file}"
            )
            path.write_text(text.replace(old, new))
