# SPDX-License-Identifier: Apache-2.0
"""Carries this machine's pip configuration into an image build, where its files do not exist."""

from __future__ import annotations

import ast
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class HostPip:
    """What of the configuration means something inside a build, and what was left out and why."""

    index: str | None
    extra: tuple[str, ...]
    ca_bundle: Path | None
    wheels: Path | None
    left_out: tuple[tuple[str, str], ...]


def read_host_pip() -> HostPip:
    """The effective configuration of this interpreter's pip: files and PIP_ variables."""
    listing = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=False
    )
    return from_listing(listing.stdout)


def from_listing(listing: str) -> HostPip:
    """The same from the output of `pip config list`: lines of `section.key='value'`.

    A variable of the environment (section `:env:`) wins over a file, as it does for pip.
    """
    settings: dict[str, str] = {}
    for line in sorted(listing.splitlines(), key=lambda text: text.startswith(":env:")):
        name, separator, value = line.partition("=")
        if separator:
            settings[name.rpartition(".")[2]] = str(ast.literal_eval(value))
    left_out: list[tuple[str, str]] = []
    extra = []
    for url in settings.get("extra-index-url", "").split():
        if url.startswith(("http://", "https://")):
            extra.append(url)
        else:
            left_out.append((url, "not visible inside a build"))
    folders = [
        Path(text.removeprefix("file://")) for text in settings.get("find-links", "").split()
    ]
    folders = [folder for folder in folders if folder.is_dir()]
    left_out += [(str(folder), "a build takes one wheel folder") for folder in folders[1:]]
    certificate = Path(settings["cert"]) if settings.get("cert") else None
    return HostPip(
        index=settings.get("index-url"),
        extra=tuple(extra),
        ca_bundle=certificate if certificate and certificate.is_file() else None,
        wheels=folders[0] if folders else None,
        left_out=tuple(left_out),
    )
