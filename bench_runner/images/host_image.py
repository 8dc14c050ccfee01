# SPDX-License-Identifier: Apache-2.0
"""An empty image over which a job's container sees this machine's own system, read-only.

For machines that can pull and build nothing: Python, torch and the vendor's libraries are the ones
that the runner itself has. The job sees system folders, the runner's environment and the suite, and
nothing else of the machine: no home, no /etc, no other run.
"""

from __future__ import annotations

import io
import os
import sys
import tarfile
from pathlib import Path

import docker

from bench_runner.backends import Backend
from bench_runner.images.labels import BACKEND_LABEL, HOST_KIND, KIND_LABEL
from bench_runner.suite import SUITE_FILES, SUITE_FOLDERS

SYSTEM = (
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/opt",
    "/etc/ld.so.cache",
    "/etc/alternatives",
)
SUITE_AT = "/bench"
# runc before 1.2 gives a tmpfs the mode of the folder under it, whatever mode the mount asks for.
FOLDERS = {
    **dict.fromkeys(("proc", "sys", "dev", "etc", "in", "out", "bench"), 0o755),
    "tmp": 0o1777,
}


def import_image(client: docker.DockerClient, backend: Backend, tag: str) -> None:
    """Makes the image: folders to mount at, and the labels by which it is known."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, mode in FOLDERS.items():
            folder = tarfile.TarInfo(name)
            folder.type, folder.mode = tarfile.DIRTYPE, mode
            archive.addfile(folder)
    repository, _, version = tag.rpartition(":")
    client.api.import_image_from_data(
        buffer.getvalue(),
        repository=repository,
        tag=version,
        changes=[
            f"LABEL {BACKEND_LABEL}={backend.name} {KIND_LABEL}={HOST_KIND}",
            "USER 65532:65532",
            f"WORKDIR {SUITE_AT}",
            "ENV HOME=/tmp USER=bench LOGNAME=bench",
        ],
    )


def mounts(root: Path) -> list[tuple[str, str]]:
    """What a job sees of the machine: (path here, path inside), all read-only.

    Args:
        root: the suite's folder; of it, what the suite consists of and what runs it.
    """
    found = [path for path in SYSTEM if os.path.exists(path)]
    for prefix in (os.path.realpath(sys.base_prefix), sys.prefix):
        if not any(prefix == path or prefix.startswith(f"{path}/") for path in found):
            found.append(prefix)
    found += _extra_imports(root, found)
    suite = [*SUITE_FILES, "backends.yaml", "bench_runner", "tests"]
    suite += [name for name in SUITE_FOLDERS if not name.startswith("bench_runner/")]
    inside = [(str(root / name), f"{SUITE_AT}/{name}") for name in suite]
    return [(path, path) for path in found] + inside


def environment(root: Path) -> dict[str, str]:
    """Variables with which a job finds the runner's Python and the vendor's libraries."""
    imports = [SUITE_AT, *_extra_imports(root, [])]
    variables = {
        "PATH": ":".join(_programs()),
        "PYTHONPATH": ":".join(imports),
    }
    if libraries := os.environ.get("LD_LIBRARY_PATH"):
        variables["LD_LIBRARY_PATH"] = libraries
    return variables


def _programs() -> list[str]:
    """Where a job looks for programs: the runner's own folders, as far as the job sees them."""
    standard = ["/usr/local/bin", "/usr/bin", "/bin"]
    given = [path for path in os.environ.get("PATH", "").split(":") if path.startswith(SYSTEM)]
    return list(dict.fromkeys([f"{sys.prefix}/bin", *given, *standard]))


def _extra_imports(root: Path, seen: list[str]) -> list[str]:
    """Folders of PYTHONPATH beside the suite: packages of the runner that are not installed."""
    given = os.environ.get("PYTHONPATH", "").split(":")
    folders = [os.path.realpath(path) for path in given if path.startswith("/")]
    return [
        path
        for path in dict.fromkeys(folders)
        if os.path.isdir(path)
        and Path(path) != root.resolve()
        and not any(path == known or path.startswith(f"{known}/") for known in seen)
    ]
