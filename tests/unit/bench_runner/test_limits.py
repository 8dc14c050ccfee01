# SPDX-License-Identifier: Apache-2.0
"""Bounded logs, watched folders, processes that will not go, and the run's lock."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench_runner.contract.outcome import Ending
from bench_runner.executors.capped_log import HEAD_BYTES, TAIL_BYTES, CappedLog
from bench_runner.executors.foreign_load import ForeignLoad, family_cpu_s
from bench_runner.executors.run_lock import RunLocked, acquire, is_held
from bench_runner.executors.watch import DEEPEST, MOST_ENTRIES, folder_bytes, watch
from bench_runner.harness.descendants import descendants, kill_descendants


@settings(max_examples=30, deadline=None)
@given(chunks=st.lists(st.integers(0, 400_000), max_size=12))
def test_a_log_keeps_both_ends_and_counts_the_rest(
    tmp_path_factory: pytest.TempPathFactory, chunks: list[int]
) -> None:
    path = tmp_path_factory.mktemp("log") / "job.log"
    written = b""
    with CappedLog(path) as log:
        for number, size in enumerate(chunks):
            chunk = bytes([65 + number]) * size
            written += chunk
            log.write(chunk)
    kept = path.read_bytes()
    assert kept[:HEAD_BYTES] == written[:HEAD_BYTES]
    dropped = len(written) - HEAD_BYTES - TAIL_BYTES
    if dropped > 0:
        assert kept.endswith(written[-TAIL_BYTES:])
        assert f"[... {dropped} bytes left out ...]".encode() in kept
    else:
        assert kept == written


def test_a_log_is_there_while_the_job_runs(tmp_path: Path) -> None:
    with CappedLog(tmp_path / "job.log") as log:
        log.write(b"first words")
        assert (tmp_path / "job.log").read_bytes() == b"first words"


def never(seconds: float) -> bool:
    return threading.Event().wait(seconds)


def test_watch_names_what_ended_a_job(tmp_path: Path) -> None:
    quiet = threading.Event()
    called = threading.Event()
    called.set()
    assert watch(lambda _: True, quiet, 9, (tmp_path,), 1 << 20) is Ending.EXITED
    assert watch(never, quiet, 0.1, (tmp_path,), 1 << 20) is Ending.TIMEOUT
    assert watch(never, called, 9, (tmp_path,), 1 << 20) is Ending.CANCELLED
    assert watch(lambda _: True, called, 9, (tmp_path,), 1 << 20) is Ending.CANCELLED
    assert watch(never, quiet, 9, (tmp_path,), 1 << 20, lambda: True) is Ending.OOM
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "file").write_bytes(b"x" * (2 << 20))
    assert watch(never, quiet, 9, (tmp_path,), 1 << 20) is Ending.OUTPUT_LIMIT


def test_foreign_load_is_what_others_used() -> None:
    burn = [sys.executable, "-c", "while True: pass"]
    with subprocess.Popen(burn) as other:
        mine, anyone = ForeignLoad(lambda: family_cpu_s(other.pid)), ForeignLoad(lambda: 0.0)
        for load in (mine, anyone):
            load.sample()
        time.sleep(1.0)
        for load in (mine, anyone):
            load.sample()
        other.kill()
    assert mine.cores is not None
    assert anyone.cores is not None
    # The burner's own core is foreign to one view and not to the other.
    assert anyone.cores - mine.cores > 0.05


def test_foreign_load_is_unknown_without_two_samples() -> None:
    load = ForeignLoad(lambda: None)
    load.sample()
    assert load.cores is None
    assert family_cpu_s(2**22 + 1) is None


def test_folder_bytes_does_not_follow_links(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "away").symlink_to("/usr")
    assert folder_bytes(tmp_path) < 1 << 20


def test_what_cannot_be_counted_is_over_every_limit(tmp_path: Path) -> None:
    many, deep = tmp_path / "many", tmp_path / "deep"
    many.mkdir()
    for number in range(MOST_ENTRIES + 1):
        (many / str(number)).touch()
    assert folder_bytes(many) == math.inf
    deep.joinpath(*["d"] * (DEEPEST + 2)).mkdir(parents=True)
    assert folder_bytes(deep) == math.inf
    assert folder_bytes(tmp_path / "absent") == 0


# A daemon: forked twice, in a session of its own, deaf to SIGTERM.
DAEMON = """
import os, signal, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        print(os.getpid(), flush=True)
        time.sleep(600)
    os._exit(0)
os.wait()
time.sleep(600)
"""

ADOPTER = f"""
import os, subprocess, sys
from bench_runner.harness.descendants import adopt_orphans, descendants, kill_descendants
adopt_orphans()
child = subprocess.Popen([sys.executable, "-c", {DAEMON!r}], stdout=subprocess.PIPE)
daemon = int(child.stdout.readline())
assert daemon in descendants(os.getpid()), "not adopted"
print(daemon, kill_descendants(os.getpid()), len(descendants(os.getpid())))
"""


def test_a_daemon_is_adopted_and_killed() -> None:
    done = subprocess.run([sys.executable, "-c", ADOPTER], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    daemon, killed, left = map(int, done.stdout.split())
    assert (killed, left) == (2, 0)
    with pytest.raises(ProcessLookupError):
        os.kill(daemon, 0)


def test_a_process_without_children_has_no_descendants() -> None:
    with subprocess.Popen(["sleep", "60"]) as child:
        assert descendants(child.pid) == set()
        assert kill_descendants(child.pid) == 0
        assert child.pid in descendants(os.getpid())
        child.kill()


def test_a_run_has_one_runner_and_the_kernel_drops_its_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> int:
        raise PermissionError

    assert not is_held(tmp_path)
    code = (
        "import sys, pathlib; from bench_runner.executors.run_lock import acquire;"
        "acquire(pathlib.Path(sys.argv[1])); print('locked', flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout is not None
    holder.stdout.readline()
    assert is_held(tmp_path)
    # Somebody else's lock, that we may not even look at, counts as held.
    monkeypatch.setattr(os, "open", refused)
    assert is_held(tmp_path)
    monkeypatch.undo()
    with pytest.raises(RunLocked, match="another process"):
        acquire(tmp_path)
    holder.kill()
    holder.communicate()
    assert not is_held(tmp_path)
    os.close(acquire(tmp_path))
