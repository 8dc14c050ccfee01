# SPDX-License-Identifier: Apache-2.0
"""How a container sees a job's folders: from the machine's file system, or from a named volume.

A runner that is itself in a container has its runs in a volume, whose place on the machine it does
not know. There the engine mounts subfolders of the volume, and resolves them inside it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from docker.types import Mount

from bench_runner.executors.interface import ExecutorError

VARIABLE = "BENCH_RUNS_VOLUME"
"""Set in a runner's container: ``NAME:FOLDER``, the volume and where it is mounted."""
_VOLUME_OWNER = "volume:"


class Storage(Protocol):
    """Where the runs are."""

    def mount(self, target: str, folder: Path, read_only: bool) -> Mount:
        """The mount that shows ``folder`` at ``target`` inside a container."""

    def owner(self, run_folder: Path) -> str:
        """The run's name on its containers, the same for every runner of this storage."""

    def folder_of(self, owner: str) -> Path | None:
        """The run's folder again; None where it belongs to another storage."""


class MachineStorage:
    """Folders of this machine."""

    def mount(self, target: str, folder: Path, read_only: bool) -> Mount:
        # A mount, not a bind: that is a string in which a path may hold no colon.
        return Mount(target, str(folder), "bind", read_only=read_only)

    def owner(self, run_folder: Path) -> str:
        return str(run_folder)

    def folder_of(self, owner: str) -> Path | None:
        return None if owner.startswith(_VOLUME_OWNER) else Path(owner)


@dataclass(frozen=True)
class VolumeStorage:
    """A named volume that this process sees at ``root``."""

    volume: str
    root: Path

    def mount(self, target: str, folder: Path, read_only: bool) -> Mount:
        return Mount(
            target, self.volume, "volume", read_only, no_copy=True, subpath=self._inside(folder)
        )

    def owner(self, run_folder: Path) -> str:
        return f"{_VOLUME_OWNER}{self.volume}/{self._inside(run_folder)}"

    def folder_of(self, owner: str) -> Path | None:
        mine = f"{_VOLUME_OWNER}{self.volume}/"
        return self.root / owner.removeprefix(mine) if owner.startswith(mine) else None

    def _inside(self, folder: Path) -> str:
        try:
            return str(folder.resolve().relative_to(self.root))
        except ValueError as error:
            raise ExecutorError(
                f"{folder} is not in volume {self.volume}; put --runs-dir under {self.root}"
            ) from error


def storage(environment: Mapping[str, str] = os.environ) -> Storage:
    """What the environment says of this runner's runs.

    Raises:
        ExecutorError: the variable is not ``NAME:FOLDER``.
    """
    text = environment.get(VARIABLE, "")
    if not text:
        return MachineStorage()
    volume, separator, root = text.partition(":")
    if not (volume and separator and root.startswith("/")):
        raise ExecutorError(f"{VARIABLE}={text}: expected NAME:FOLDER, as compose.yaml sets it")
    return VolumeStorage(volume, Path(root).resolve())
