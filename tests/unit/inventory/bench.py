# SPDX-License-Identifier: Apache-2.0
"""Runs mutations: each on a copy of a suite at one place, so that unchanged files cost nothing."""

from __future__ import annotations

import importlib
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from mutations import Mutation

from bench_runner.inventory.diff import diff
from bench_runner.inventory.discovery import Discovery
from bench_runner.inventory.findings import Finding
from bench_runner.inventory.manifest import make_manifest
from bench_runner.inventory.profile import Profile, load_profile
from bench_runner.inventory.records import Manifest


class Bench:
    """A suite, a place for its copies, and a platform."""

    def __init__(self, suite: Path, work: Path, profile: Profile, python: str, cache: Path) -> None:
        self.suite = suite
        self.copy = work / "suite"
        self.profile = profile
        self.python = python
        self.cache = cache

    def fresh(self, touched: Iterable[str] | None = None) -> None:
        """Lays the suite out as it is, or puts back the files that were touched."""
        if touched is None:
            shutil.copytree(self.suite, self.copy, dirs_exist_ok=True)
            return
        for name in touched:
            shutil.copyfile(self.suite / name, self.copy / name)

    def manifest(self, files: tuple[str, ...]) -> Manifest:
        discovery = Discovery(
            root=self.copy, python=self.python, profile=self.profile, cache=self.cache, jobs=2
        )
        return make_manifest(list(files), discovery, "unittest")

    def files(self, mutation: Mutation) -> tuple[str, ...]:
        edited = (mutation.file,) if Path(mutation.file).name.startswith("test_") else ()
        return tuple(dict.fromkeys((*edited, *mutation.discover)))

    def findings(self, mutation: Mutation) -> list[Finding]:
        """What the mutation causes."""
        if not self.copy.is_dir():
            self.fresh()
        before = self.manifest(self.files(mutation))
        try:
            mutation.apply(self.copy)
            after = self.manifest(self.files(mutation))
        finally:
            self.fresh((mutation.file, *(file for file, _, _ in mutation.also)))
        return list(diff(before, after).findings)


def verdict(mutation: Mutation, findings: list[Finding]) -> str:
    """Empty where the findings are those that were expected, else what is wrong."""
    expected, found = Counter(mutation.kinds), Counter(item.kind for item in findings)
    if expected != found:
        shown = "; ".join(f"{f.kind} {f.subject} ({f.detail})" for f in findings)
        return f"expected {sorted(expected.elements())}, found {shown or 'nothing'}"
    if mutation.subject:
        subjects = [item.subject for item in findings if item.kind == mutation.kinds[0]]
        if not any(mutation.subject in subject for subject in subjects):
            return f"expected {mutation.subject} as subject, found {subjects}"
    return ""


def main(which: str, suite: Path, profile: str, python: str) -> int:
    """Prints the bench's table; returns the number of mutations that were not named rightly."""
    edits = importlib.import_module(f"{which}_mutations")
    wrong = 0
    print("| edit | file | findings | as expected |\n|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        bench = Bench(suite, work, load_profile(profile), python, work / "cache")
        for mutation in (*edits.DAMAGE, *edits.HARMLESS):
            findings = bench.findings(mutation)
            trouble = verdict(mutation, findings)
            wrong += bool(trouble)
            kinds = ", ".join(
                f"{kind} x{count}" if count > 1 else kind
                for kind, count in Counter(item.kind for item in findings).items()
            )
            print(
                f"| {mutation.name} | `{Path(mutation.file).name}` | {kinds or 'none'} "
                f"| {trouble or 'yes'} |",
                flush=True,
            )
    return wrong


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2]), sys.argv[3], sys.argv[4]) > 0)
