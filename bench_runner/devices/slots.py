# SPDX-License-Identifier: Apache-2.0
"""One job owns one device: locks that all runners of a machine share.

The kernel drops a lock when its owner dies, however it dies.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from bench_runner.devices.record import Device, DeviceNotFound
from bench_runner.errors import InfrastructureFault, UsageFault

FOLDER = "BENCH_SLOTS"
"""Names the folder of the locks where runners do not share the machine's temporary folder."""
PAUSE_S = 0.1


def slots_folder() -> Path:
    """Where the locks of this machine's devices are."""
    return Path(os.environ.get(FOLDER) or Path(tempfile.gettempdir()) / "bench-runner-slots")


def choose(devices: Sequence[Device], wanted: str | None, visible: str | None) -> list[Device]:
    """The devices that a run may use.

    Args:
        wanted: numbers or IDs separated by commas, as ``--devices`` takes them.
        visible: the same from the vendor's own variable (``CUDA_VISIBLE_DEVICES``), which counts
            where nothing is wanted.

    Raises:
        UsageFault: one is not among the machine's devices.
    """
    names = [name.strip() for name in (wanted or visible or "").split(",") if name.strip()]
    if not names:
        return list(devices)
    found = []
    for name in names:
        fitting = [one for one in devices if name in (str(one.index), one.id)]
        if not fitting:
            known = ", ".join(f"{one.index} ({one.id})" for one in devices)
            raise UsageFault(f"no device {name}; this machine has: {known}")
        found += [one for one in fitting if one not in found]
    return found


class Slots:
    """The devices of a run, each lent to one job at a time.

    Args:
        shared: a job does not keep others off the device, as it is for a CPU.
    """

    def __init__(self, vendor: str, devices: Sequence[Device], shared: bool) -> None:
        if not devices:
            raise DeviceNotFound(f"no {vendor} device to run on")
        self._vendor = vendor
        self._devices = tuple(devices)
        self._shared = shared

    @contextlib.contextmanager
    def lent(self, abandoned: Callable[[], bool]) -> Iterator[Device | None]:
        """A device that is this job's alone meanwhile; waits for one.

        Yields None when ``abandoned`` answers true before one was free.
        """
        if self._shared:
            yield self._devices[0]
            return
        while not abandoned():
            for device in self._devices:
                # Asked for anew each time: who cleans the temporary folder may have removed it.
                descriptor = _locked(_file(self._vendor, device))
                if descriptor is None:
                    continue
                try:
                    yield device
                finally:
                    os.close(descriptor)
                return
            time.sleep(PAUSE_S)
        yield None


def busy(folder: Path | None = None) -> dict[str, int]:
    """How many devices of each vendor some runner's job owns now."""
    counts: dict[str, int] = {}
    for file in sorted((folder or slots_folder()).glob("*.lock")):
        vendor = file.name.partition("-")[0]
        descriptor = _locked(file, fcntl.LOCK_SH)
        counts[vendor] = counts.get(vendor, 0) + (descriptor is None and file.exists())
        if descriptor is not None:
            os.close(descriptor)
    return counts


def _file(vendor: str, device: Device) -> Path:
    folder = slots_folder()
    try:
        # As the temporary folder itself: every user may add locks, none may remove those of others.
        folder.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(PermissionError):
            folder.chmod(0o1777)
        file = folder / f"{vendor}-{re.sub(r'[^A-Za-z0-9]+', '-', device.id)}.lock"
        descriptor = os.open(file, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
    except OSError as error:
        raise InfrastructureFault(
            f"the devices' locks cannot be kept in {folder}: {error.strerror}; "
            f"name another folder with {FOLDER}"
        ) from error
    os.close(descriptor)
    return file


def _locked(file: Path, kind: int = fcntl.LOCK_EX) -> int | None:
    """A descriptor that holds the lock; None where somebody else does, or the file is gone."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        # A file that was removed in between is no lock: the next runner makes another one.
        if os.path.samestat(os.fstat(descriptor), os.stat(file)):
            if kind == fcntl.LOCK_EX:
                # Cleaners of temporary folders go by age; a job is younger than what they remove.
                with contextlib.suppress(PermissionError):
                    os.utime(descriptor)
            return descriptor
    except (BlockingIOError, FileNotFoundError):
        pass
    os.close(descriptor)
    return None
