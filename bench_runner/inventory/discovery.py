# SPDX-License-Identifier: Apache-2.0
"""Runs probes in the suite's own Python, one process per file and platform, and keeps answers.

An answer is kept under what it was asked; it is used again while every file of the suite that was
loaded has the same content and every installed file the same size and time.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench_runner.contract.record import canonical_sha256, write_atomically
from bench_runner.errors import InfrastructureFault, UsageFault
from bench_runner.inventory.profile import Profile

PACKAGE_ROOT = Path(__file__).resolve().parents[2]
BOOT = (
    "import sys; sys.path.insert(0, sys.argv[2]); "
    "import bench_runner.inventory.probe.run as run; sys.path.remove(sys.argv[2]); run.main()"
)
TIMEOUT_S = 600


def file_sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def probe_sha256(profile: Profile) -> str:
    """Of the discovering code and the profile: a change of either makes old answers worthless."""
    total = hashlib.sha256(profile.model_dump_json().encode())
    for path in sorted(Path(__file__).with_name("probe").glob("*.py")):
        total.update(path.read_bytes())
    return total.hexdigest()


@dataclass
class Discovery:
    """Everything that a probe depends on."""

    root: Path
    python: str
    profile: Profile
    cache: Path
    jobs: int = 0
    pytest_arguments: tuple[str, ...] = ()
    use_cache: bool = True
    hits: int = 0
    misses: int = 0
    _environment: dict[str, Any] = field(default_factory=dict)

    def environment(self, packages: tuple[str, ...]) -> dict[str, Any]:
        """Python and packages of the suite."""
        if not self._environment:
            self._environment = self._run({"what": "environment", "packages": list(packages)})
        return self._environment

    def by_file(self, what: str, paths: list[str]) -> dict[str, dict[str, Any]]:
        """One probe for each file, ``jobs`` at a time."""
        jobs = self.jobs or os.cpu_count() or 1
        with ThreadPoolExecutor(max_workers=jobs) as pool:
            return dict(
                zip(paths, pool.map(lambda p: self.together(what, [p]), paths), strict=True)
            )

    def together(self, what: str, paths: list[str]) -> dict[str, Any]:
        """One probe for all ``paths``.

        Raises:
            UsageFault: source and packages do not fit, or the profile does not.
            InfrastructureFault: the probe died.
        """
        request = {
            "what": what,
            "root": str(self.root),
            "paths": paths,
            "profile": self.profile.model_dump(),
            "facts": str(self.cache / "facts"),
            "arguments": list(self.pytest_arguments),
        }
        kept = self.cache / f"{self._key(request)}.json"
        if self.use_cache and (answer := self._kept(kept)) is not None:
            self.hits += 1
            return answer
        self.misses += 1
        answer = self._run(request)
        if "refused" in answer:
            raise UsageFault(answer["reason"])
        # What a failed import would have loaded is unknown, and so is when to look again.
        if not any(found.get("import_failure") for found in answer["files"].values()):
            answer["contents"] = self._contents(paths, answer)
            write_atomically(kept, json.dumps(answer))
        return answer

    def shadow(self, path: str, labels: dict[str, dict[str, str]]) -> dict[str, Any]:
        """Closure of the copies in ``path`` when its tests are labelled so; never kept.

        Raises:
            UsageFault: source and packages do not fit, or the profile does not.
            InfrastructureFault: the probe died.
        """
        answer = self._run(
            {
                "what": "shadow",
                "root": str(self.root),
                "paths": [path],
                "profile": self.profile.model_dump(),
                "facts": str(self.cache / "facts"),
                "labels": labels,
            }
        )
        if "refused" in answer:
            raise UsageFault(answer["reason"])
        return answer

    def _key(self, request: dict[str, Any]) -> str:
        environment = self.environment(())
        return canonical_sha256(
            [request, self.python, environment["packages"], probe_sha256(self.profile)]
        )

    def _contents(self, paths: list[str], answer: dict[str, Any]) -> dict[str, str]:
        loaded = {name for found in answer["files"].values() for name in found.get("loaded", ())}
        return {
            name: self._content(name) for name in sorted({*paths, *loaded, *self._settings(paths)})
        }

    def _settings(self, paths: list[str]) -> set[str]:
        """Files that pytest reads on its own; a new one changes the answer as much as an edit."""
        found = set()
        for path in paths:
            for folder in (self.root / path).parents:
                if folder.is_relative_to(self.root):
                    found.add(str((folder / "conftest.py").relative_to(self.root)))
                    found.add(str((folder / "__init__.py").relative_to(self.root)))
        return found | {"pytest.ini", "pyproject.toml", "../pytest.ini", "../pyproject.toml"}

    def _content(self, name: str) -> str:
        path = self.root / name
        return file_sha256(path) if path.is_file() else "absent"

    def _kept(self, path: Path) -> dict[str, Any] | None:
        try:
            answer: dict[str, Any] = json.loads(path.read_text())
        except (OSError, ValueError):
            return None
        if any(self._content(name) != digest for name, digest in answer["contents"].items()):
            return None
        for name, (size, changed) in answer["outside"].items():
            try:
                status = os.stat(name)
            except OSError:
                return None
            if (status.st_size, status.st_mtime_ns) != (size, changed):
                return None
        return answer

    def _run(self, request: dict[str, Any]) -> dict[str, Any]:
        self.cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="inventory-") as folder:
            target = Path(folder) / "answer.json"
            asked = Path(folder) / "request.json"
            asked.write_text(json.dumps({**request, "answer": str(target)}))
            try:
                done = subprocess.run(
                    [self.python, "-c", BOOT, str(asked), str(PACKAGE_ROOT)],
                    cwd=self.root,
                    env=self._environ(folder),
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    text=True,
                    errors="replace",
                    timeout=TIMEOUT_S,
                )
            except subprocess.TimeoutExpired as error:
                raise InfrastructureFault(
                    f"discovery of {_shown(request)} did not end within {TIMEOUT_S} s"
                ) from error
            except OSError as error:
                raise UsageFault(f"cannot run {self.python}: {error.strerror}") from error
            if not target.is_file():
                tail = " / ".join((done.stderr or done.stdout).strip().splitlines()[-3:])
                raise InfrastructureFault(
                    f"discovery of {_shown(request)} died with exit code {done.returncode}: {tail}"
                )
            answer: dict[str, Any] = json.loads(target.read_text())
            return answer

    def _environ(self, folder: str) -> dict[str, str]:
        # One hash seed, so that a suite that iterates over a set names its tests alike each time.
        # What a suite compiles when it is imported (to see whether there is a compiler) is kept.
        return {
            **os.environ,
            "PYTHONHASHSEED": "0",
            "PYTHONDONTWRITEBYTECODE": "1",
            "TORCHINDUCTOR_CACHE_DIR": str(self.cache / "compiled" / "inductor"),
            "TRITON_CACHE_DIR": str(self.cache / "compiled" / "triton"),
            "TMPDIR": folder,
        }


def _shown(request: dict[str, Any]) -> str:
    paths = request.get("paths", ["the environment"])
    return paths[0] if len(paths) == 1 else f"{len(paths)} files"
