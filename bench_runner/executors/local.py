# SPDX-License-Identifier: Apache-2.0
"""A process group of this machine a job, for machines without Docker.

It isolates nothing: the job is this user. What it does hold: the time, memory and output limits,
a scrubbed environment, private scratch folders, and that no process outlives its job.
"""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import IO, Any

import psutil

from bench_runner.backends import Backend
from bench_runner.contract.outcome import Ending, Outcome
from bench_runner.executors.capped_log import CappedLog
from bench_runner.executors.foreign_load import ForeignLoad, family_cpu_s
from bench_runner.executors.interface import Launch, launch_name
from bench_runner.executors.watch import watch
from bench_runner.harness.descendants import adopt_orphans, children, descendants

TOKEN = "BENCH_JOB"
"""Environment variable by which a process is recognised as a job's, whoever its parent is."""
PASSED_ON = ("LD_LIBRARY_PATH", "GEMS_VENDOR")
"""What is taken from the outer environment beside the variables that backends.yaml names."""
GRACE_S = 10.0


class LocalExecutor:
    """Runs jobs as processes, with this process's Python, from the suite's root."""

    name = "local"

    def __init__(self, backend: Backend, suite_root: Path) -> None:
        self.backend = backend
        self.suite_root = suite_root
        # What a killed supervisor leaves behind then comes to us instead of to process 1.
        adopt_orphans()

    def inputs_seen_at(self, launch: Launch) -> str:
        return str(launch.inputs)

    def submit(self, launch: Launch) -> LocalHandle:
        return LocalHandle(self, launch)

    def clear(self, run_folder: Path) -> None:
        for stray in marked(launch_name(self.name, run_folder.name, "")):
            with contextlib.suppress(psutil.NoSuchProcess):
                stray.kill()

    def _path(self) -> str:
        standard = f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin"
        return self.backend.env.get("PATH", "$PATH").replace("$PATH", standard)

    def environment(self, launch: Launch, scratch: Path) -> dict[str, str]:
        visible = self.backend.container.visible_devices
        wanted = {*PASSED_ON, *self.backend.env, visible.granted, visible.narrowed}
        device = launch.device if self.backend.vendor != "cpu" else None
        narrowed = {visible.narrowed: device.visible_as} if device and visible.narrowed else {}
        outer = {name: value for name, value in os.environ.items() if name in wanted}
        return {
            **outer,
            **self.backend.container.environment,
            **narrowed,
            "PATH": self._path(),
            "LANG": "C.UTF-8",
            "HOME": str(scratch),
            "TMPDIR": str(scratch),
            "TRITON_CACHE_DIR": str(scratch / "triton"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": str(self.suite_root),
            "BENCH_LIFELINE": "1",
            TOKEN: launch.name,
        }


class LocalHandle:
    """One supervised process group."""

    def __init__(self, executor: LocalExecutor, launch: Launch) -> None:
        self._executor = executor
        self._launch = launch
        self._cancelled = threading.Event()
        self._load: ForeignLoad | None = None

    def kill(self) -> None:
        self._cancelled.set()

    def wait(self) -> Outcome:
        submitted = time.time()
        try:
            ending, code = self._run()
            detail = ""
        except OSError as error:
            ending, code, detail = Ending.INFRASTRUCTURE, None, f"starting the process: {error}"
        cores = self._load.cores if self._load else None
        return Outcome(ending, submitted, time.time(), code, detail, foreign_cores=cores)

    def _run(self) -> tuple[Ending, int | None]:
        launch = self._launch
        scratch = launch.folder / "scratch"
        scratch.mkdir()
        process = SUPERVISORS.start(
            [sys.executable, "-m", "bench_runner.harness"]
            + [str(launch.inputs / "job.json"), str(launch.outputs)],
            cwd=self._executor.suite_root,
            env=self._executor.environment(launch, scratch),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        assert process.stdout is not None
        assert process.stdin is not None
        # The supervisor is still importing: whatever it starts later inherits these.
        largest_file = launch.settings.output_bytes
        resource.prlimit(process.pid, resource.RLIMIT_CORE, (0, 0))
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (largest_file, largest_file))
        self._load = ForeignLoad(lambda: family_cpu_s(process.pid))
        try:
            with CappedLog(launch.log) as log:
                reader = threading.Thread(
                    target=copy_output, args=(process.stdout, log), daemon=True
                )
                reader.start()
                ending = watch(
                    finished=lambda seconds: finished(process, seconds),
                    cancelled=self._cancelled,
                    timeout_s=launch.settings.timeout_s,
                    written=(launch.outputs, scratch),
                    output_bytes=launch.settings.output_bytes,
                    memory_exceeded=lambda: (
                        memory_bytes(process.pid) > launch.settings.memory_bytes
                    ),
                    sample=self._load.sample,
                )
                end(process, launch.name)
                reader.join(GRACE_S)
        finally:
            end(process, launch.name)
            process.stdin.close()
            shutil.rmtree(scratch, ignore_errors=True)
        return ending, process.returncode


class Supervisors:
    """The living supervisors. Any other child of this process was left behind by a dead one."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._living: set[int] = set()

    def start(self, command: list[str], **options: Any) -> subprocess.Popen[bytes]:
        with self._guard:
            process = subprocess.Popen(command, **options)
            self._living.add(process.pid)
            return process

    def kill_strays(self, ended: int) -> None:
        """Takes ``ended`` off the list and kills what it left, with all descendants."""
        with self._guard:
            self._living.discard(ended)
            # What a stray leaves behind comes to us in its turn, so until none is left.
            while strays := children(os.getpid()) - self._living:
                for pid in strays:
                    for process in {pid, *descendants(pid)}:
                        with contextlib.suppress(ProcessLookupError, PermissionError):
                            os.kill(process, signal.SIGKILL)
                    # By its id: waiting for anybody would take the supervisors' statuses.
                    with contextlib.suppress(ChildProcessError):
                        os.waitpid(pid, 0)


SUPERVISORS = Supervisors()


def copy_output(stream: IO[bytes], log: CappedLog) -> None:
    with contextlib.suppress(OSError, ValueError):
        while data := os.read(stream.fileno(), 1 << 16):
            log.write(data)


def finished(process: subprocess.Popen[bytes], seconds: float) -> bool:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def memory_bytes(root: int) -> int:
    """Resident memory of a process and all its descendants; a page that two of
    them share counts twice."""
    total = 0
    with contextlib.suppress(psutil.NoSuchProcess):
        family = psutil.Process(root)
        for process in [family, *family.children(recursive=True)]:
            with contextlib.suppress(psutil.Error):
                total += process.memory_info().rss
    return total


def end(process: subprocess.Popen[bytes], token: str) -> None:
    """Ends the supervisor, which ends the rest, and then whatever escaped it."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        if not finished(process, GRACE_S):
            process.kill()
            process.wait()
    SUPERVISORS.kill_strays(process.pid)
    for stray in marked(token):
        with contextlib.suppress(psutil.NoSuchProcess):
            stray.kill()


def marked(token: str) -> list[psutil.Process]:
    """Processes whose token begins like this, also those that a killed supervisor left behind."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.environ().get(TOKEN, "").startswith(token):
                found.append(process)
    return found
