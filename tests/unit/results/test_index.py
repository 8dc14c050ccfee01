# SPDX-License-Identifier: Apache-2.0
"""The index says what the folders say, whatever became of its file and of those who write to it."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench_runner.contract.job import Job
from bench_runner.store.index_file import NAME
from bench_runner.store.refresh import Refresher
from bench_runner.store.runs import RunStore, open_folder
from bench_runner.store.view import StoreView
from tests.unit.results.stored import forget, make_run

QUIET: list[str] = []


def jobs_of_folders(root: Path) -> dict[str, list[tuple[str, str]]]:
    """Run to the ids and statuses of its jobs, from the records themselves."""
    return {
        run: [
            (job.id, verdict.status.value if verdict else "")
            for job, verdict in open_folder(root / run).verdicts()
        ]
        for run in RunStore(root).ids()
    }


def jobs_of_index(view: StoreView) -> dict[str, list[tuple[str, str]]]:
    view.refresh()
    return {
        run.id: [(job.id, job.status.value if job.status else "") for job in view.jobs_of(run.id)]
        for run in view.find_runs()[1]
    }


def assert_true(view: StoreView) -> None:
    """Rows, sums and newest verdicts are those of the folders."""
    found = jobs_of_index(view)
    assert found == jobs_of_folders(view.store.root)
    statuses = Counter(status for jobs in found.values() for _, status in jobs if status)
    ended: Counter[str] = Counter()
    for (status, *_), number in view.totals().ended.items():
        ended[status] += number
    assert ended == statuses
    fresh = StoreView(view.store.root, QUIET.append)
    fresh.rebuild()
    assert fresh.newest() == view.newest()
    assert fresh.totals().phases() == view.totals().phases()


def fill(root: Path, runs: int = 6) -> None:
    for number in range(runs):
        make_run(
            root, f"2026010{number + 1}-000000-aaaa", sha256="ab"[number % 2] * 64,
            finished_at=f"2026-01-0{number + 1}T00:00:00Z", wrong=number % 3 == 0,
        )  # fmt: skip


def close(view: StoreView) -> None:
    """What the end of a process does: the log goes into the file."""
    view._index.close()


def test_deleted_is_built_again(tmp_path: Path) -> None:
    fill(tmp_path)
    view = StoreView(tmp_path)
    assert_true(view)
    for file in tmp_path.glob(f"{NAME}*"):
        file.unlink()
    # Under the feet of a process that has it open, and for one that begins.
    assert_true(view)
    assert_true(StoreView(tmp_path))


def test_of_another_version_or_no_database_is_built_again_with_one_line(tmp_path: Path) -> None:
    fill(tmp_path)
    view = StoreView(tmp_path)
    view.refresh()
    close(view)
    with sqlite3.connect(tmp_path / NAME) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    said: list[str] = []
    assert_true(StoreView(tmp_path, said.append))
    for file in tmp_path.glob(f"{NAME}-*"):
        # It would still hold every page.
        file.unlink()
    (tmp_path / NAME).write_bytes(b"nonsense" * 1000)
    assert_true(StoreView(tmp_path, said.append))
    assert [line.rpartition(": ")[0].split(" begins")[0] for line in said] == [
        f"the index of {tmp_path}"
    ] * 2
    assert "version 99" in said[0]


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("three")
    fill(root, 3)
    return root


@settings(max_examples=20, deadline=None)
@given(where=st.floats(0, 1), log=st.booleans())
def test_cut_at_any_byte(three: Path, where: float, log: bool) -> None:
    root = three.parent / "cut"
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(three, root)
    view = StoreView(root, QUIET.append)
    view.refresh()
    if log:
        # A copy with its log: as the disk was when the power went.
        kept = {suffix: (root / f"{NAME}{suffix}").read_bytes() for suffix in ("", "-wal")}
        close(view)
        for suffix, content in kept.items():
            (root / f"{NAME}{suffix}").write_bytes(content)
    else:
        close(view)
    file = root / f"{NAME}{'-wal' if log else ''}"
    os.truncate(file, int(where * file.stat().st_size))
    fresh = StoreView(root, QUIET.append)
    assert jobs_of_index(fresh) == jobs_of_folders(root)
    shutil.rmtree(root / "20260101-000000-aaaa")
    assert jobs_of_index(fresh) == jobs_of_folders(root)


WRITER = """
import sys
from pathlib import Path
from bench_runner.store.view import StoreView
print("ready", flush=True)
while True:
    view = StoreView(Path(sys.argv[1]), lambda line: None)
    for number in range(20):
        view.refresh()
    view.rebuild()
"""


def test_killed_at_random_points_several_at_once(tmp_path: Path) -> None:
    """Two processes read and rebuild while runs come and go, and are killed again and again."""
    fill(tmp_path)
    chance = random.Random(4)
    view = StoreView(tmp_path, QUIET.append)

    def start() -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        return process

    for turn in range(5):
        writers = [start(), start()]
        run = make_run(tmp_path, f"2026020{turn + 1}-000000-aaaa")
        time.sleep(chance.uniform(0, 0.3))
        if turn % 2:
            forget(run)
        for writer in writers:
            os.kill(writer.pid, signal.SIGKILL)
            writer.wait()
            assert writer.stdout is not None
            writer.stdout.close()
        assert jobs_of_index(view) == jobs_of_folders(tmp_path)
    assert_true(view)
    assert_true(StoreView(tmp_path, QUIET.append))


def test_an_index_that_was_begun_anew_is_not_taken_for_the_one_before(tmp_path: Path) -> None:
    fill(tmp_path)
    view = StoreView(tmp_path, QUIET.append)
    seen = set()
    # As many transactions make each index: a count from 0 would end at the same number, and who
    # remembered it would go on with what the index before knew.
    for _ in range(3):
        view.rebuild()
        seen.add(view._index.connection().execute("SELECT generation FROM state").fetchone()[0])
    assert len(seen) == 3


def test_a_verdict_that_was_cut_short_is_named_not_believed(tmp_path: Path) -> None:
    folder = make_run(tmp_path, "20260101-000000-aaaa")
    view = StoreView(tmp_path)
    view.refresh()
    job = folder.record.jobs[0]
    file = folder.job_folder(job) / "verdict.json"
    whole = file.read_bytes()
    # Whatever is left of it but the last new-line is no verdict.
    for length in random.Random(1).sample(range(len(whole) - 1), 8):
        file.write_bytes(whole[:length])
        fresh = StoreView(tmp_path, QUIET.append)
        fresh.rebuild()
        assert list(fresh.unreadable) == [folder.record.id], length
        assert fresh.find_runs() == (0, [])
        assert sum(fresh.totals().ended.values()) == 0


@pytest.mark.skipif(os.getuid() != 0, reason="mounting needs root")
def test_a_folder_that_cannot_be_written_to(tmp_path: Path) -> None:
    """As the results server has it whose volume is mounted read-only."""
    runs, seen = tmp_path / "runs", tmp_path / "seen"
    fill(runs)
    seen.mkdir()
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-ec",
         'mount --bind -o ro "$0" "$1"; exec "$2" -m bench_runner list --runs-dir "$1" '
         "--format json", str(runs), str(seen), sys.executable],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if "unshare" in done.stderr or "mount:" in done.stderr:
        pytest.skip("no mount namespaces here")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count('"run": ') == 6
    assert list(runs.glob(".index*")) == []


def test_finished_runs_are_looked_at_in_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bench_runner.store.refresh.SLICE", 2)
    fill(tmp_path)
    view = StoreView(tmp_path)
    view.refresh()
    looked: list[str] = []
    look_at = Refresher._look_at

    def note(self: Refresher, run: str, *rest: object) -> object:
        looked.append(run)
        return look_at(self, run, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(Refresher, "_look_at", note)
    for _ in range(3):
        view.refresh()
    assert sorted(looked) == RunStore(tmp_path).ids()[::-1]


def test_an_upgraded_plan_is_hashed_once_for_each_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_run(tmp_path, "20260101-000000-aaaa")
    hashed: list[Job] = []
    key = Job.key.fget
    assert key is not None
    monkeypatch.setattr(Job, "key", property(lambda job: hashed.append(job) or key(job)))
    StoreView(tmp_path).refresh()
    # Once for the plan and once to check its verdict.
    assert len(hashed) == 8


def test_size_is_what_the_runs_take(tmp_path: Path) -> None:
    folder = make_run(tmp_path, "20260101-000000-aaaa")
    view = StoreView(tmp_path)
    view.refresh()
    assert view.measure()
    before = view.size()
    block = 1 << 20
    (folder.path / "more").write_bytes(b"x" * block)
    view.rebuild()
    assert view.measure()
    after = view.size()
    assert before is not None
    assert after is not None
    assert after - before >= block
    du = subprocess.run(["du", "-sB1", folder.path], capture_output=True, text=True, check=True)
    # du counts the folder itself too.
    assert after <= int(du.stdout.split()[0]) <= after + (64 << 10)
