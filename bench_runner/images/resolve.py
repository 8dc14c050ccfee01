# SPDX-License-Identifier: Apache-2.0
"""Asks pip what an image's requirements come to, without installing or building anything.

Where an index lacks a requirement, the others are still resolved, and the lack is said. The result
can be written as a lock file: exact versions with the hashes that the index gives.
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bench_runner.errors import InfrastructureFault
from bench_runner.images.build_plan import BuildPlan

NOT_FOUND = re.compile(
    # The second is how pip says it where other requirements leave only other versions.
    r"No matching distribution found for (\S+)|Cannot install (\S+) because"
)
NEEDED = re.compile(r"satisfies the requirement (\S+) \(from ([A-Za-z0-9._-]+)")
NEWEST_GLIBC_MINOR = 39
"""Wheels for glibc up to 2.39 are taken: what the newest base image in backends.yaml has."""
OLDEST_GLIBC_MINOR = 17


@dataclass(frozen=True)
class Package:
    """One resolved distribution."""

    name: str
    version: str
    sha256: str | None
    requested: bool

    @property
    def locked(self) -> str:
        """Its line of a lock file."""
        pin = f"{self.name}=={self.version}"
        return f"{pin} --hash=sha256:{self.sha256}" if self.sha256 else pin


@dataclass(frozen=True)
class Resolution:
    """What pip found for one backend, and the requirements for which it found nothing."""

    backend: str
    python: str
    packages: tuple[Package, ...]
    overlays: tuple[Package, ...]
    """Installed afterwards without their dependencies; a lock file leaves them to the table."""
    unresolved: tuple[tuple[str, str], ...]
    """(requirement, reason)."""

    def as_json(self) -> dict[str, object]:
        return {
            "backend": self.backend,
            "python": self.python,
            "packages": [vars(package) for package in self.packages],
            "overlays": [vars(package) for package in self.overlays],
            "unresolved": [{"requirement": r, "reason": why} for r, why in self.unresolved],
        }

    def lock(self) -> str:
        """A requirements file of exact versions.

        Raises InfrastructureFault where something is unresolved or has no hash: pip takes hashes
        for all or for none.
        """
        if self.unresolved:
            names = ", ".join(requirement for requirement, _ in self.unresolved)
            raise InfrastructureFault(f"{self.backend}: no lock file while {names} is unresolved")
        bare = [package.name for package in self.packages if package.sha256 is None]
        if bare:
            raise InfrastructureFault(f"{self.backend}: no hash for {', '.join(bare)}")
        lines = sorted(package.locked for package in self.packages)
        return "\n".join([f"# {self.backend}, Python {self.python}", *lines, ""])


def resolve(plan: BuildPlan) -> Resolution:
    """Resolves what the image of ``plan`` installs, for its Python on Linux and this processor.

    Markers (`; python_version < ...`) are judged by this Python: pip offers nothing else.

    Raises InfrastructureFault when pip fails for another reason than an absent requirement.
    """
    python = _python(plan.build_args["PYTHON"])
    packages, unresolved = _as_far_as_it_goes(plan, python, _requirements(plan), ())
    over, missing = _as_far_as_it_goes(
        plan, python, plan.build_args["PACKAGES_AFTER"].split(), ("--no-deps",)
    )
    return Resolution(plan.backend, python, tuple(packages), tuple(over), (*unresolved, *missing))


def _as_far_as_it_goes(
    plan: BuildPlan, python: str, wanted: list[str], options: tuple[str, ...]
) -> tuple[list[Package], list[tuple[str, str]]]:
    """Resolves what is to be had: (packages, unresolved)."""
    unresolved: list[tuple[str, str]] = []
    while wanted:
        report, said = _ask_pip(plan, python, wanted, options)
        if report is not None:
            return _packages(report), unresolved
        lacking = NOT_FOUND.search(said)
        named = (lacking.group(1) or lacking.group(2)) if lacking else ""
        culprit, why = _requirement_of(named, wanted), "not on the indexes that answer"
        if culprit is None and (needed := NEEDED.search(said)):
            culprit = _requirement_of(needed.group(2), wanted)
            why = f"is there, but it needs {needed.group(1)}, which is not"
        if culprit is None:
            raise InfrastructureFault(f"{plan.backend}: pip cannot resolve: {_reason(said)}")
        unresolved.append((culprit, why))
        wanted.remove(culprit)
    return [], unresolved


def _requirements(plan: BuildPlan) -> list[str]:
    arguments = plan.build_args
    lines = f"{arguments['PACKAGES']}\n{arguments['REQUIREMENTS']}".split("\n")
    return [line for line in lines if line]


def _python(wanted: str) -> str:
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    return here if wanted.startswith(">=") else wanted


def _platforms() -> list[str]:
    machine = platform.machine()
    minors = range(NEWEST_GLIBC_MINOR, OLDEST_GLIBC_MINOR - 1, -1)
    names = [f"manylinux_2_{minor}_{machine}" for minor in minors]
    names += [f"manylinux2014_{machine}", f"linux_{machine}"]
    return [word for name in names for word in ("--platform", name)]


def _ask_pip(
    plan: BuildPlan, python: str, wanted: list[str], options: tuple[str, ...]
) -> tuple[dict[str, object] | None, str]:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed"]
        command += ["--disable-pip-version-check", "--target", folder, "--report", str(report)]
        command += ["--python-version", python, "--only-binary", ":all:", *_platforms()]
        if plan.build_args["INDEX"]:
            command += ["--index-url", plan.build_args["INDEX"]]
        for url in plan.build_args["EXTRA_INDEXES"].split():
            command += ["--extra-index-url", url]
        if wheels := plan.contexts.get("wheels"):
            command += ["--find-links", wheels]
        finished = subprocess.run(
            [*command, *options, *wanted],
            env=_as_in_a_build(plan),
            capture_output=True,
            text=True,
            check=False,
        )
        if finished.returncode != 0:
            return None, finished.stderr
        return json.loads(report.read_text(encoding="utf-8")), ""


def _as_in_a_build(plan: BuildPlan) -> dict[str, str]:
    """An environment in which pip knows what it would know in the build, and not this machine's."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    settings = {"PIP_CONFIG_FILE": plan.secrets.get("pip_conf", os.devnull)}
    if bundle := plan.secrets.get("ca_bundle"):
        settings["PIP_CERT"] = bundle
    return {**inherited, **settings}


def _packages(report: dict[str, object]) -> list[Package]:
    items = report["install"]
    assert isinstance(items, list)
    return [
        Package(
            name=item["metadata"]["name"],
            version=item["metadata"]["version"],
            sha256=item["download_info"].get("archive_info", {}).get("hashes", {}).get("sha256"),
            requested=item["requested"],
        )
        for item in items
    ]


def _requirement_of(named: str, wanted: list[str]) -> str | None:
    """The line of ``wanted`` that pip names, which writes it without spaces."""
    name = re.split(r"[^A-Za-z0-9._-]", named)[0]
    matching = [line for line in wanted if re.split(r"[^A-Za-z0-9._-]", line)[0] == name]
    return matching[0] if matching else None


def _reason(said: str) -> str:
    errors = [line for line in said.splitlines() if line.startswith("ERROR: ")]
    return (errors or ["it gave no reason"])[-1].removeprefix("ERROR: ")
