# SPDX-License-Identifier: Apache-2.0
"""One job owns one device, whoever runs it and however its runner ends."""

from __future__ import annotations

import fcntl
import itertools
import os
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from bench_runner.backends import load_backends
from bench_runner.contract.job import Settings
from bench_runner.contract.outcome import Ending, Outcome
from bench_runner.devices.record import Device
from bench_runner.devices.slots import FOLDER, Slots, busy, choose
from bench_runner.errors import InfrastructureFault, UsageFault
from bench_runner.executors.interface import Launch
from bench_runner.executors.local import LocalExecutor
from bench_runner.launching import Launcher

DEVICES = [Device(f"GPU-{n}{n}{n}", n, n, "a device") for n in range(2)]

OWNER = """
import time
from bench_runner.devices.record import Device
from bench_runner.devices.slots import Slots
with Slots("nvidia", [Device("GPU-000", 0, 0, "a device")], False).lent(lambda: False):
    print("owned", flush=True)
    time.sleep(600)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(FOLDER, str(tmp_path / "slots"))
    return tmp_path / "slots"


class Recorder:
    """An executor whose jobs say which device they had, and when."""

    name = "recorder"

    def __init__(self) -> None:
        self.spans: list[tuple[Device | None, float, float]] = []

    def submit(self, launch: Launch) -> Recorder._Handle:
        return self._Handle(self, launch)

    class _Handle:
        def __init__(self, owner: Recorder, launch: Launch) -> None:
            self.owner, self.launch = owner, launch

        def kill(self) -> None: ...

        def wait(self) -> Outcome:
            begin = time.time()
            time.sleep(0.02)
            self.owner.spans.append((self.launch.device, begin, time.time()))
            return Outcome(Ending.EXITED, begin, time.time(), 0)


def launch(path: Path) -> Launch:
    return Launch("job", path, path, Settings())


def test_no_device_has_two_jobs_and_all_are_used(tmp_path: Path) -> None:
    executor = Recorder()
    # Two runners: each has its own slots over the same devices.
    runners = [Launcher(executor, Slots("nvidia", DEVICES, shared=False)) for _ in range(2)]  # type: ignore[arg-type]
    threads = [
        threading.Thread(target=runners[n % 2].run, args=(launch(tmp_path),)) for n in range(12)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(executor.spans) == 12
    assert {device for device, _, _ in executor.spans} == set(DEVICES)
    for device in DEVICES:
        spans = sorted(span[1:] for span in executor.spans if span[0] == device)
        assert all(end <= begin for (_, end), (begin, _) in itertools.pairwise(spans))


def test_a_killed_owner_gives_its_device_back(folder: Path) -> None:
    owner = subprocess.Popen([sys.executable, "-c", OWNER], stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    assert owner.stdout.readline() == "owned\n"
    assert busy() == {"nvidia": 1}
    with Slots("nvidia", DEVICES, shared=False).lent(lambda: False) as other:
        assert other == DEVICES[1]
        assert busy() == {"nvidia": 2}
    asked = iter([False, False, True])
    with Slots("nvidia", DEVICES[:1], shared=False).lent(lambda: next(asked)) as none:
        assert none is None
    owner.kill()
    owner.wait()
    assert busy() == {"nvidia": 0}
    with Slots("nvidia", DEVICES[:1], shared=False).lent(lambda: False) as device:
        assert device == DEVICES[0]


def test_locks_survive_who_cleans_temporary_folders(folder: Path) -> None:
    slots = Slots("nvidia", DEVICES[:1], shared=False)
    with slots.lent(lambda: False):
        pass
    [file] = folder.glob("*.lock")
    os.utime(file, (0, 0))
    with slots.lent(lambda: False):
        # A lock in use is new, whatever the file's age was.
        assert time.time() - file.stat().st_mtime < 3600

    removed = []

    def remove() -> bool:
        # One job waits for another's device when the files go.
        if len(removed) == 2:
            file.unlink()
        removed.append(file)
        return False

    with slots.lent(lambda: False), slots.lent(remove) as device:
        assert device == DEVICES[0]
        assert busy() == {"nvidia": 1}


def test_a_lock_whose_file_was_replaced_meanwhile_is_none(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slots = Slots("nvidia", DEVICES[:1], shared=False)
    real, replaced = fcntl.flock, []

    def replace_first(descriptor: int, kind: int) -> None:
        if not replaced:
            [file] = folder.glob("*.lock")
            file.unlink()
            file.touch()
            replaced.append(os.fstat(descriptor).st_ino)
        real(descriptor, kind)

    monkeypatch.setattr(fcntl, "flock", replace_first)
    with slots.lent(lambda: False):
        # The lock is one of the file that others find.
        assert busy() == {"nvidia": 1}
    assert len(replaced) == 1


def test_a_job_that_waits_for_a_device_can_be_cancelled(tmp_path: Path) -> None:
    slots = Slots("nvidia", DEVICES[:1], shared=False)
    launcher = Launcher(Recorder(), slots)  # type: ignore[arg-type]
    outcomes: list[Outcome] = []
    with slots.lent(lambda: False):
        waiting = threading.Thread(target=lambda: outcomes.append(launcher.run(launch(tmp_path))))
        waiting.start()
        launcher.cancel()
        waiting.join()
    assert [outcome.ending for outcome in outcomes] == [Ending.CANCELLED]


def test_a_process_sees_its_device_alone(tmp_path: Path) -> None:
    executor = LocalExecutor(load_backends()["nvidia-cuda133"], tmp_path)
    given = replace(launch(tmp_path), device=DEVICES[1])
    assert executor.environment(given, tmp_path)["CUDA_VISIBLE_DEVICES"] == "GPU-111"


def test_a_cpu_is_everybodys(folder: Path) -> None:
    slots = Slots("cpu", DEVICES[:1], shared=True)
    with slots.lent(lambda: False) as one, slots.lent(lambda: False) as other:
        assert one == other
    assert not folder.exists()


@pytest.mark.parametrize(
    ("wanted", "visible", "indices"),
    [
        (None, None, [0, 1]),
        ("1", "0", [1]),
        (None, "GPU-111", [1]),
        ("1,0", None, [1, 0]),
        ("0,GPU-000", None, [0]),
        ("", "", [0, 1]),
    ],
)
def test_devices_are_chosen_by_number_or_id(
    wanted: str | None, visible: str | None, indices: list[int]
) -> None:
    assert [device.index for device in choose(DEVICES, wanted, visible)] == indices


def test_a_device_that_is_not_there_is_named() -> None:
    with pytest.raises(UsageFault, match=r"no device 7; this machine has: 0 \(GPU-000\), 1 "):
        choose(DEVICES, "7", None)


def test_a_folder_that_cannot_be_made_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(FOLDER, str(tmp_path / "file" / "slots"))
    slots = Slots("nvidia", DEVICES, shared=False)
    with pytest.raises(InfrastructureFault, match=FOLDER), slots.lent(lambda: False):
        pass
