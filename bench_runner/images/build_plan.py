# SPDX-License-Identifier: Apache-2.0
"""Turns a backend and the builder's options into one `docker buildx build` command.

`images plan` shows what `images build` would run, because both come from here.
"""

from __future__ import annotations

import hashlib
import json
import shlex
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from bench_runner.backends import Backend
from bench_runner.errors import UsageFault
from bench_runner.images.indexes import Indexes

RECIPE_FILES = (
    "Dockerfile",
    "bench_runner/images/entrypoint.sh",
    "bench_runner/images/pip_install.sh",
)


class PlanError(UsageFault, ValueError):
    """An option or the checkout cannot make an image; the message is one line."""


@dataclass(frozen=True)
class BuildOptions:
    """What the person who builds may choose; None means the table's choice."""

    base: str | None = None
    tag: str | None = None
    ca_bundle: Path | None = None
    pip_conf: Path | None = None
    wheels: Path | None = None
    lock: Path | None = None
    network: str | None = None
    no_cache: bool = False


@dataclass(frozen=True)
class BuildPlan:
    """One image to build: every input of the build, none of them hidden."""

    backend: str
    tag: str
    base: str
    root: Path
    suite: str
    recipe: str
    """Hash of the Dockerfile and of all that it installs, the suite itself left out."""
    build_args: dict[str, str]
    contexts: dict[str, str] = field(default_factory=dict)
    secrets: dict[str, str] = field(default_factory=dict)
    network: str | None = None
    no_cache: bool = False

    def command(self) -> list[str]:
        """The command that builds it, as an argument list."""
        command = ["docker", "buildx", "build", "--load", "--tag", self.tag]
        if self.network:
            command += ["--network", self.network]
        if self.no_cache:
            command.append("--no-cache")
        return [*command, *self.inputs()]

    def inputs(self) -> list[str]:
        """The part of the command that names what goes into the image."""
        words = []
        for name, value in self.build_args.items():
            words += ["--build-arg", f"{name}={value}"]
        for name, folder in self.contexts.items():
            words += ["--build-context", f"{name}={folder}"]
        for name, file in self.secrets.items():
            words += ["--secret", f"id={name},src={file}"]
        return [*words, str(self.root)]

    def as_json(self) -> dict[str, object]:
        """Every field and the command, for `--format json`."""
        return {
            "backend": self.backend,
            "tag": self.tag,
            "base": self.base,
            "suite": self.suite,
            "recipe": self.recipe,
            "build_args": self.build_args,
            "contexts": self.contexts,
            "secrets": self.secrets,
            "command": shlex.join(self.command()),
        }


def plan_build(
    backend: Backend, options: BuildOptions, indexes: Indexes, root: Path, suite: str
) -> BuildPlan:
    """The build of `backend`'s image from the checkout at `root` with suite fingerprint `suite`.

    Raises PlanError when there is no base image, an index holds credentials, or a file is absent.
    """
    base = options.base or backend.image.base
    if base is None:
        raise PlanError(f"{backend.name}: no public base image is known; name one with --base")
    for url in (indexes.index, *indexes.extra):
        if url is not None and (problem := _unfit_index(url)):
            raise PlanError(f"{backend.name}: {problem}")
    project, requirements = _read_project(root)
    packages = "\n".join(backend.packages)
    if options.lock is not None:
        packages, requirements = _read_lock(options.lock, backend), []
    installed = {
        "BASE": base,
        "PYTHON": backend.python,
        "APT_PACKAGES": " ".join(backend.image.apt),
        "PACKAGES": packages,
        "PACKAGES_AFTER": " ".join(backend.packages_after),
        "REQUIREMENTS": "\n".join(requirements),
        "ENVIRONMENT": backend.shell_environment(),
    }
    recipe = _recipe(root, installed)
    return BuildPlan(
        backend=backend.name,
        tag=options.tag or backend.image.tag,
        base=base,
        root=root,
        suite=suite,
        recipe=recipe,
        build_args={
            **installed,
            "BACKEND": backend.name,
            "INDEX": indexes.index or "",
            "EXTRA_INDEXES": " ".join(indexes.extra),
            "TORCH": backend.pin("torch") or "",
            "TRITON": backend.pin("triton") or backend.pin("triton-ascend") or "",
            "VERSION": project,
            "REVISION": _revision(root),
            "SUITE": suite,
            "RECIPE": recipe,
        },
        contexts=_existing({"wheels": options.wheels}, "--wheels", folder=True),
        secrets=_existing(
            {"ca_bundle": options.ca_bundle, "pip_conf": options.pip_conf},
            "--ca-bundle or --pip-conf",
            folder=False,
        ),
        network=options.network,
        no_cache=options.no_cache,
    )


def _read_lock(path: Path, backend: Backend) -> str:
    """What to install instead of the table's requirements: a file that `images resolve` wrote."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PlanError(f"--lock: {path} cannot be read: {error}") from error
    first, *lines = text.splitlines() or [""]
    if not first.startswith(f"# {backend.name}, Python "):
        raise PlanError(f"--lock: {path} is not a lock file of {backend.name}")
    return "\n".join(lines)


def _unfit_index(url: str) -> str | None:
    """Why `url` cannot be a build's index, or None."""
    try:
        parts = urlsplit(url)
    except ValueError as error:
        return f"index {url}: {error}"
    if parts.username is not None or parts.password is not None:
        return (
            "an index with credentials would stay in the image's history; "
            "put it into a pip.conf and pass that with --pip-conf"
        )
    if parts.scheme not in ("http", "https"):
        return f"index {url} is not visible inside a build; pass a folder with --wheels"
    return None


def _recipe(root: Path, installed: dict[str, str]) -> str:
    """SHA-256 that changes when the same sources would give another image."""
    try:
        texts = [(root / name).read_text(encoding="utf-8") for name in RECIPE_FILES]
    except OSError as error:
        raise PlanError(f"{error.filename}: cannot be read: {error.strerror}") from error
    return hashlib.sha256(json.dumps([*texts, installed]).encode()).hexdigest()


def _existing(paths: dict[str, Path | None], option: str, *, folder: bool) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, path in paths.items():
        if path is None:
            continue
        if not (path.is_dir() if folder else path.is_file()):
            raise UsageFault(f"{option}: {path} is not a {'folder' if folder else 'file'}")
        found[name] = str(path.resolve())
    return found


def _read_project(root: Path) -> tuple[str, list[str]]:
    """The project's version, and what its packages and tests need beside the backend's wheels."""
    try:
        import tomllib
    except ModuleNotFoundError as error:
        raise PlanError("planning an image needs Python 3.11 or newer: ./setup.sh cpu") from error
    path = root / "pyproject.toml"
    try:
        project = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
        needed = [*project["dependencies"], *project["optional-dependencies"]["test"]]
        return str(project["version"]), needed
    except (OSError, tomllib.TOMLDecodeError, KeyError) as error:
        raise PlanError(f"{path}: cannot tell the project's requirements: {error}") from error


def _revision(root: Path) -> str:
    """The checkout's commit, `-dirty` when tracked files differ; `unknown` outside git."""
    command = ["git", "-C", str(root), "describe", "--always", "--abbrev=40", "--dirty"]
    try:
        result = subprocess.run(
            [*command, "--exclude=*"], capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        return "unknown"
    return result.stdout.strip() if result.returncode == 0 else "unknown"
