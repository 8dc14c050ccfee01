# SPDX-License-Identifier: Apache-2.0
"""The view of a store follows what happens on disk."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bench_runner.contract.job import Job
from bench_runner.contract.status import Mode, Status
from bench_runner.executors.run_lock import acquire
from bench_runner.store.runs import RunStore
from bench_runner.store.view import StoreView
from bench_runner.web import queries
from tests.unit.results.stored import forget, make_run


def ids(view: StoreView) -> list[str]:
    view.refresh()
    return [run.id for run in view.find_runs()[1]]


def test_new_and_deleted_runs_come_and_go(tmp_path: Path) -> None:
    view = StoreView(tmp_path)
    assert ids(view) == []
    first = make_run(tmp_path, "20260101-000000-aaaa")
    make_run(tmp_path, "20260102-000000-bbbb")
    assert ids(view) == ["20260102-000000-bbbb", "20260101-000000-aaaa"]
    forget(first)
    assert ids(view) == ["20260102-000000-bbbb"]


def test_a_verdict_written_later_is_seen(tmp_path: Path) -> None:
    done = make_run(tmp_path / "other", "20260101-000000-aaaa")
    folder = make_run(tmp_path / "runs", "20260101-000000-aaaa", judged=False)
    view = StoreView(tmp_path / "runs")
    view.refresh()
    assert [job.status for job in view.jobs_of("20260101-000000-aaaa")] == [None] * 4
    for _, verdict in done.verdicts():
        assert verdict is not None
        folder.write_verdict(verdict)
    view.refresh()
    assert [job.status for job in view.jobs_of("20260101-000000-aaaa")] == [Status.PASSED] * 4


def test_a_run_that_is_planned_anew_is_read_anew(tmp_path: Path) -> None:
    folder = make_run(tmp_path, "20260101-000000-aaaa")
    view = StoreView(tmp_path)
    view.refresh()
    folder.replace_jobs(folder.record.jobs[:2])
    view.refresh()
    assert len(view.jobs_of("20260101-000000-aaaa")) == 2
    assert sum(view.totals().ended.values()) == 2


def test_a_damaged_verdict_names_the_run_and_spares_the_others(tmp_path: Path) -> None:
    good = make_run(tmp_path, "20260101-000000-aaaa")
    bad = make_run(tmp_path, "20260102-000000-bbbb")
    file = bad.job_folder(bad.record.jobs[0]) / "verdict.json"
    whole = file.read_text()
    file.write_text("{")
    view = StoreView(tmp_path)
    assert ids(view) == [good.record.id]
    assert "verdict.json" in view.unreadable[bad.record.id]
    assert "\n" not in view.unreadable[bad.record.id]
    file.write_text(whole)
    assert ids(view) == [bad.record.id, good.record.id]
    assert view.unreadable == {}


def test_a_run_is_active_while_its_runner_lives(tmp_path: Path) -> None:
    folder = make_run(tmp_path, "20260101-000000-aaaa", judged=False)
    descriptor = acquire(folder.path)
    view = StoreView(tmp_path)
    view.refresh()
    assert view.find_runs()[1][0].active
    assert view.activity()["cpu"] == {"active": 1, "waiting": 4, "abandoned": 0}
    os.close(descriptor)
    view.refresh()
    assert not view.find_runs()[1][0].active
    assert view.activity()["cpu"] == {"active": 0, "waiting": 0, "abandoned": 4}


def test_the_newest_verdict_supersedes_older_ones_of_the_same_bytes(tmp_path: Path) -> None:
    make_run(tmp_path, "20260103-000000-cccc", finished_at="2026-01-03T00:00:00Z", candidate_ms=2)
    make_run(tmp_path, "20260104-000000-dddd", finished_at="2026-01-01T00:00:00Z", candidate_ms=4)
    make_run(tmp_path, "20260105-000000-eeee", sha256="c" * 64)
    view = StoreView(tmp_path)
    view.refresh()
    newest = [job for job in view.newest() if job.mode is Mode.BENCHMARK]
    assert {(job.run, job.candidate) for job in newest} == {
        ("20260103-000000-cccc", "aaaaaaaaaaaa:softmax"),
        ("20260105-000000-eeee", "cccccccccccc:softmax"),
    }


def test_filters_are_of_one_job(tmp_path: Path) -> None:
    make_run(tmp_path, "20260101-000000-aaaa")
    make_run(tmp_path, "20260102-000000-bbbb", path="/c/ÜBER.py", sha256="c" * 64, wrong=True)
    view = StoreView(tmp_path)
    view.refresh()

    def found(**filters: Any) -> list[str]:
        total, runs = view.find_runs(**filters)
        assert total == len(runs)
        return [run.id[-4:] for run in runs]

    assert found(text="über") == ["bbbb"]
    assert found(text="ALERT(") == ["bbbb"]
    assert found(text="20260101") == ["aaaa"]
    assert found(text="alert(", status="FAILED") == ["bbbb"]
    assert found(text="alert(", status="PASSED") == []
    assert found(operator="softmax", backend="cpu", status="FAILED") == ["bbbb"]
    assert found(text="%") == []
    assert view.find_runs(limit=1, offset=1)[1][0].id == "20260101-000000-aaaa"
    assert view.find_runs(limit=1)[0] == 2


opened: list[str] | None = None
"""Files opened by Python while it is a list. An audit hook stays for the life of the process."""


def note(event: str, arguments: tuple[Any, ...]) -> None:
    if (
        opened is not None
        and event == "open"
        and isinstance(arguments[0], (str, bytes, os.PathLike))
    ):
        opened.append(os.fsdecode(arguments[0]))


@pytest.fixture
def files_opened() -> Iterator[list[str]]:
    global opened
    sys.addaudithook(note)
    opened = []
    yield opened
    opened = None


def test_what_is_done_is_read_once_and_hashed_once(
    tmp_path: Path, files_opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    make_run(tmp_path, "20260101-000000-aaaa")
    make_run(tmp_path, "20260102-000000-bbbb")
    view = StoreView(tmp_path)
    view.refresh()
    assert sum(name.endswith("verdict.json") for name in files_opened) >= 8
    files_opened.clear()
    hashed: list[Job] = []
    key = Job.key.fget
    assert key is not None
    monkeypatch.setattr(Job, "key", property(lambda job: hashed.append(job) or key(job)))
    for _ in range(2):
        view.refresh()
        view.find_runs(text="online")
        queries.leaderboard(view, "softmax")
        view.operators()
    read = [
        name for name in files_opened if name.startswith(str(tmp_path)) and ".index" not in name
    ]
    assert read == []
    assert hashed == []
    make_run(tmp_path, "20260103-000000-cccc")
    view.refresh()
    assert view.find_runs(text="online")[0] == 3
    # The two that were known are not read again.
    opened_now = {
        Path(name).relative_to(tmp_path).parts[0]
        for name in files_opened
        if name.startswith(str(tmp_path)) and name.endswith("verdict.json")
    }
    assert opened_now == {"20260103-000000-cccc"}


def test_a_verdict_of_another_device_supersedes_nothing(tmp_path: Path) -> None:
    here = make_run(tmp_path, "20260101-000000-aaaa")
    there = here.record.jobs[0].environment.model_copy(update={"device": "another CPU"})
    jobs = tuple(job.model_copy(update={"environment": there}) for job in here.record.jobs)
    other = RunStore(tmp_path).create(
        here.record.model_copy(update={"id": "20260102-000000-bbbb", "jobs": jobs})
    )
    for job, (_, verdict) in zip(jobs, here.verdicts(), strict=True):
        assert verdict is not None
        other.write_verdict(verdict.model_copy(update={"job": job, "key": job.key}))
    view = StoreView(tmp_path)
    view.refresh()
    assert len(view.newest()) == 2 * len(jobs)
