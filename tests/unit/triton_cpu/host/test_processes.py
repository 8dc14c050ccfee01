# SPDX-License-Identifier: Apache-2.0
"""Kernels run in processes that were forked after launches, and in pools of spawned ones.

Data loaders fork, test runners spawn. Threads do not survive a fork, so a launch in the child that
waited for its parent's would never end.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

import triton_cpu

PATIENCE = 60.0
"""Seconds after which a child counts as hanging; its launches take milliseconds."""


@triton.jit
def squares(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < n, other=0.0)
    tl.store(out + at, value * value, mask=at < n)


@pytest.fixture
def two_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def is_right(n: int = 1 << 20) -> bool:
    """Launches enough work that threads share it, and looks at every element.

    NumPy makes and checks the values: after a fork torch's own parallel operators hang.
    """
    triton_cpu.enable()
    x = np.arange(n, dtype=np.float64)
    out = np.full_like(x, -1.0)
    squares[(triton.cdiv(n, 256),)](torch.from_numpy(x), torch.from_numpy(out), n, BLOCK=256)
    return bool(np.array_equal(out, x * x))


def exit_code_of_fork() -> int:
    """A forked child's exit code: 0 where its launch was right; -9 where it had to be killed."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if is_right() and is_right(77) else 2
        finally:
            os._exit(code)
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.usefixtures("two_threads")
def test_a_child_forked_after_launches_launches_too() -> None:
    assert is_right()
    assert exit_code_of_fork() == 0
    assert is_right(), "and the parent goes on"


@pytest.mark.usefixtures("two_threads")
def test_a_child_of_a_forked_child_launches_too() -> None:
    assert is_right()
    child = os.fork()
    if child == 0:
        os._exit(exit_code_of_fork() & 0xFF)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_spawned_processes_share_the_cache_and_are_right() -> None:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        assert list(pool.map(is_right, [1000, 1 << 18, 3, 70_000])) == [True] * 4
