# SPDX-License-Identifier: Apache-2.0
"""`bench-runner prune` deletes the oldest, and never what the store is kept for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from bench_runner.executors.run_lock import acquire
from bench_runner.store.prune import BIN, Limits, choose, remove
from bench_runner.store.runs import RunStore
from bench_runner.store.view import StoreView
from tests.unit.results.stored import make_run

NOW = datetime(2026, 2, 1, tzinfo=timezone.utc)


def run_id(day: int) -> str:
    return f"202601{day:02}-000000-aaaa"


def fill(root: Path, latencies: dict[int, float], wrong: tuple[int, ...] = ()) -> None:
    """A run a day, each of a candidate of its own."""
    for day, latency in latencies.items():
        make_run(
            root, run_id(day), sha256=f"{day:x}" * 64, candidate_ms=latency, wrong=day in wrong,
            finished_at=f"2026-01-{day:02}T00:00:00Z",
        )  # fmt: skip


def prune(root: Path, *arguments: str) -> dict[str, Any]:
    line = [sys.executable, "-m", "bench_runner", "prune", *arguments]
    done = subprocess.run(
        [*line, "--runs-dir", str(root), "--format", "json"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


def measured(root: Path) -> StoreView:
    view = StoreView(root)
    view.refresh()
    view.measure()
    return view


def split(view: StoreView, limits: Limits) -> tuple[list[int], list[int]]:
    """Days of the runs that would go, and of those that would but stay."""
    choices = choose(view, limits, NOW)
    gone = [int(choice.run[6:8]) for choice in choices if not choice.stays]
    return gone, [int(choice.run[6:8]) for choice in choices if choice.stays]


def test_by_age_count_and_size(tmp_path: Path) -> None:
    # Day 2 is the fastest that is right; 3 is faster and wrong.
    fill(tmp_path, {1: 0.5, 2: 0.2, 3: 0.1, 4: 0.5, 5: 0.5, 6: 0.5}, wrong=(3,))
    view = measured(tmp_path)
    one = view.sizes()[run_id(1)]
    assert split(view, Limits(age=timedelta(days=28))) == ([1, 3], [2])
    assert split(view, Limits(age=timedelta(days=28, seconds=1))) == ([1, 3], [2])
    assert split(view, Limits(runs=4)) == ([1, 3], [2])
    assert split(view, Limits(runs=0)) == ([1, 3, 4, 5], [2, 6])
    total = view.size()
    assert total is not None
    assert split(view, Limits(bytes=total - 1)) == ([1], [])
    assert split(view, Limits(bytes=total - one - 1)) == ([1, 3], [2])
    assert split(view, Limits(bytes=total)) == ([], [])


def test_a_running_run_stays(tmp_path: Path) -> None:
    fill(tmp_path, {1: 0.5, 2: 0.5, 3: 0.2})
    running = make_run(tmp_path, "20251201-000000-aaaa", judged=False)
    lock = acquire(running.path)
    found = prune(tmp_path, "--keep-runs", "0")
    assert {row["run"]: row["why"] for row in found["kept"]} == {
        running.record.id: "it is running",
        run_id(3): "the best of softmax on cpu",
    }
    assert not remove(tmp_path, running.record.id)
    assert set(RunStore(tmp_path).ids()) == {running.record.id, run_id(3)}
    os.close(lock)


def test_a_dry_run_deletes_nothing_and_tells_the_same(tmp_path: Path) -> None:
    fill(tmp_path, {1: 0.5, 2: 0.5, 3: 0.2})
    told = prune(tmp_path, "--keep-runs", "1", "--dry-run")
    assert len(RunStore(tmp_path).ids()) == 3
    done = prune(tmp_path, "--keep-runs", "1")
    assert {**told, "dry_run": False} == done
    assert [row["run"] for row in done["removed"]] == [run_id(1), run_id(2)]
    assert done["freed_bytes"] == sum(row["bytes"] for row in done["removed"]) > 0
    assert RunStore(tmp_path).ids() == [run_id(3)]


def test_what_a_crash_left_is_swept_and_damaged_runs_stay(tmp_path: Path) -> None:
    fill(tmp_path, {1: 0.5, 2: 0.2})
    (tmp_path / f"{BIN}{run_id(9)}").mkdir()
    (tmp_path / run_id(1) / "run.json").write_text("{")
    found = prune(tmp_path, "--older-than", "1d")
    assert found["damaged"] == [run_id(1)]
    assert found["removed"] == []
    assert list(tmp_path.glob(f"{BIN}*")) == []


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ((), "say what shall go"),
        (("--older-than", "soon"), "no age"),
        (("--keep-size", "much"), "not a size"),
    ],
)
def test_bad_limits_are_refused(tmp_path: Path, arguments: tuple[str, ...], why: str) -> None:
    line = [sys.executable, "-m", "bench_runner", "prune", *arguments, "--runs-dir", str(tmp_path)]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert why in done.stderr
    assert "Traceback" not in done.stderr
