# SPDX-License-Identifier: Apache-2.0
"""Triton's on-disk cache, with entries of CPU kernels checked before they are believed.

Triton writes each file to a temporary name and renames it, so many processes may share the cache.
What it does not notice is an entry that was damaged afterwards (a full disk, a copied folder).
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from triton import knobs
from triton.runtime.cache import FileCacheManager

SEAL = "so_sha256"
"""The metadata's field that holds the hash of the shared object."""


class CheckedCache(FileCacheManager):
    """Answers that a damaged entry is not there; Triton then compiles it again."""

    def get_group(self, filename: str) -> dict[str, str] | None:
        try:
            group: dict[str, str] | None = super().get_group(filename)
        except ValueError:
            # Triton 3.6 lets the error of a damaged list of files through.
            return None
        if group is None or filename not in group:
            return None
        return group if is_sound(filename, group) else None


def is_sound(metadata_name: str, group: dict[str, str]) -> bool:
    """Whether an entry can be used; those of other back ends are not looked into."""
    try:
        metadata = json.loads(Path(group[metadata_name]).read_text())
        if metadata.get("target", {}).get("backend") != "cpu":
            return True
        binary = group[metadata_name.removesuffix(".json") + ".so"]
        return bool(hashlib.sha256(Path(binary).read_bytes()).hexdigest() == metadata[SEAL])
    except (OSError, ValueError, KeyError, AttributeError):
        return False


def check_entries_of_cpu_kernels() -> None:
    """Puts CheckedCache in the place of Triton's own, unless the user chose another."""
    if knobs.cache.manager_class in (None, FileCacheManager):
        knobs.cache.manager_class = CheckedCache
