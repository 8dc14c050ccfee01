# SPDX-License-Identifier: Apache-2.0
"""Runs mutations: each on a copy of a suite at one place, so that unchanged files cost nothing."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

from mutations import Mutation

from bench_runner.inventory.diff import diff
from bench_runner.inventory.discovery import Discovery
from bench_runner.inventory.findings import Finding
from bench_runner.inventory.manifest import make_manifest
from bench_runner.inventory.profile import Profile
from bench_runner.inventory.records import Manifest


class Bench:
    """A suite, a place for its copies, and a platform."""

    def __init__(self, suite: Path, work: Path, profile: Profile, python: str, cache: Path) -> None:
        self.suite = suite
        self.copy = work / "suite"
        self.profile = profile
        self.python = python
        self.cache = cache

    def fresh(self) -> None:
        """Lays the suite out as it is, leaving files alone that need no change."""
        for source in self.suite.rglob("*"):
            target = self.copy / source.relative_to(self.suite)
            if source.is_dir():
                target.mkdir(parents=True, exist_ok=True)
            elif not target.is_file() or target.read_bytes() != source.read_bytes():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target)

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
        self.fresh()
        before = self.manifest(self.files(mutation))
        mutation.apply(self.copy)
        try:
            after = self.manifest(self.files(mutation))
        finally:
            self.fresh()
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
