# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C and SIGTERM end a run in order: what runs is killed and removed, then we exit."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType

POLL_S = 0.1


def run_interruptibly(
    work: Callable[[], None], cancel: Callable[[], None], on_interrupt: Callable[[], None]
) -> bool:
    """Does ``work`` in a thread; a signal calls ``cancel`` once and waits for the work to end.

    Further signals meanwhile change nothing: leaving early would leave containers behind.

    Returns:
        Whether it was interrupted.

    Raises:
        BaseException: what ``work`` raised.
    """
    signalled = threading.Event()
    failures: list[BaseException] = []

    def note(number: int, frame: FrameType | None) -> None:
        signalled.set()

    def guarded() -> None:
        try:
            work()
        except BaseException as error:
            failures.append(error)

    before = {
        number: signal.signal(number, note)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    }
    interrupted = False
    try:
        worker = threading.Thread(target=guarded, name="run")
        worker.start()
        while worker.is_alive():
            worker.join(POLL_S)
            if signalled.is_set() and not interrupted:
                interrupted = True
                on_interrupt()
                cancel()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if failures:
        raise failures[0]
    return interrupted
