# SPDX-License-Identifier: Apache-2.0
"""From a launch to its outcome: a device is taken for it, and it can be killed from any thread."""

from __future__ import annotations

import threading
import time
from dataclasses import replace

from bench_runner.contract.outcome import Ending, Outcome
from bench_runner.devices.slots import Slots
from bench_runner.executors.interface import Executor, Handle, Launch


class Launcher:
    """Runs launches on the devices of a run; shared by all that start jobs."""

    def __init__(self, executor: Executor, slots: Slots) -> None:
        self.executor = executor
        self._slots = slots
        self._living: set[Handle] = set()
        self._guard = threading.Lock()
        self.cancelled = False

    def cancel(self) -> None:
        """Kills what runs; what waits for a device does not start."""
        with self._guard:
            self.cancelled = True
            for handle in self._living:
                handle.kill()

    def run(self, launch: Launch) -> Outcome:
        """Blocks until a device was free and the job is over."""
        with self._slots.lent(lambda: self.cancelled) as device:
            if device is None:
                now = time.time()
                return Outcome(Ending.CANCELLED, now, now)
            handle = self.executor.submit(replace(launch, device=device))
            with self._guard:
                self._living.add(handle)
                if self.cancelled:
                    handle.kill()
            try:
                return handle.wait()
            finally:
                with self._guard:
                    self._living.discard(handle)
