# SPDX-License-Identifier: Apache-2.0
"""`bench-runner compare`: names of sides, refusals, and one document."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bench_runner.contract.status import Mode
from bench_runner.store.benchmarks import find_side
from bench_runner.store.runs import RunFolder, RunStore
from bench_runner.store.view import StoreView
from tests.unit.results.stored import make_run

OLD, NEW, OTHER = "20260101-000000-aaaa", "20260102-000000-bbbb", "20260103-000000-cccc"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("runs")
    make_run(root, OLD)
    make_run(root, NEW, sha256="d" * 64, candidate_ms=0.25, finished_at="2026-01-02T00:00:00Z")
    make_run(root, OTHER, path="/c/other.py", sha256="e" * 64, candidate_ms=1.0)
    return root


def compare(runs: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "bench_runner", "compare", *arguments, "--runs-dir", str(runs)]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    return done


def document(runs: Path, *arguments: str) -> dict[str, Any]:
    done = compare(runs, *arguments, "--format", "json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    [one] = found["comparisons"]
    assert isinstance(one, dict)
    return one


def job(runs: Path, run: str) -> str:
    folder = RunStore(runs).open(run)
    return next(job.id for job in folder.record.jobs if job.mode is Mode.BENCHMARK)


NAMES = {
    OLD: ("20260101", f"{OLD}/{{old}}", "aaaaaaaaaaaa:softmax", "aaaa"),
    OTHER: ("other.py", "other:softmax", "other.py:softmax", "/c/other.py:softmax"),
}


def test_names_of_a_side(runs: Path) -> None:
    view = StoreView(runs)
    view.refresh()
    for run, names in NAMES.items():
        for name in names:
            found = find_side(view, name.format(old=job(runs, OLD)))
            assert [row.run for row in found.benchmarks] == [run], name
    found = document(runs, "aaaa", "other.py")
    assert (found["a"]["run"], found["b"]["run"]) == (OLD, OTHER)
    assert found["ratio"] == pytest.approx(0.5)
    assert found["cases"][0]["faster"] == "A"


def test_two_runs_share_candidates_of_one_name(runs: Path) -> None:
    """The same file, edited: other bytes."""
    found = document(runs, OLD, NEW)
    assert found["ratio"] == pytest.approx(2.0)
    assert (found["compared"], found["total"], found["unit"]) == (1, 1, "blocks")


def test_the_table(runs: Path) -> None:
    done = compare(runs, OLD, NEW)
    assert done.returncode == 0
    assert "geometric mean, 1 of 1 cases" in done.stdout
    assert "2.00×" in done.stdout
    assert "\x1b" not in done.stdout + done.stderr
    assert "n counts blocks" in done.stderr


def test_slower_is_an_exit_code_where_asked_for(runs: Path) -> None:
    assert compare(runs, OLD, NEW, "--fail-if-slower").returncode == 0
    assert compare(runs, NEW, OLD, "--fail-if-slower").returncode == 1
    assert compare(runs, OLD, OLD, "--fail-if-slower").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("nothing", OLD), "no candidate in"),
        (("2026", OLD), "fits 3 runs"),
        (("online.py", OTHER), "several benchmarks of softmax"),
        ((OLD, NEW, "--op", "add"), "has no benchmark that passed"),
        ((f"{OLD}/nope", NEW), "has no benchmark that passed"),
    ],
)
def test_what_names_nothing_is_one_line(runs: Path, arguments: tuple[str, ...], why: str) -> None:
    done = compare(runs, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert why in done.stderr
    assert len(done.stderr.splitlines()) == 1


def elsewhere(root: Path, run: RunFolder, run_id: str, **place: Any) -> None:
    """The same run as it would be in another environment."""
    there = run.record.jobs[0].environment.model_copy(update=place)
    jobs = tuple(job.model_copy(update={"environment": there}) for job in run.record.jobs)
    other = RunStore(root).create(run.record.model_copy(update={"id": run_id, "jobs": jobs}))
    for job, (_, verdict) in zip(jobs, run.verdicts(), strict=True):
        assert verdict is not None
        other.write_verdict(verdict.model_copy(update={"job": job, "key": job.key}))


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ({"device": "another CPU"}, "device: a CPU and another CPU"),
        ({"versions": {"driver": "575.1"}}, "driver: none and 575.1"),
        ({"executor": "docker", "image": "i:1", "image_id": "sha256:1"}, "image_id"),
    ],
)
def test_two_places_are_refused_without_a_flag(
    tmp_path: Path, place: dict[str, Any], why: str
) -> None:
    elsewhere(tmp_path, make_run(tmp_path, OLD), NEW, **place)
    done = compare(tmp_path, OLD, NEW)
    assert (done.returncode, done.stdout) == (2, "")
    assert why in done.stderr
    assert "--across" in done.stderr
    found = document(tmp_path, OLD, NEW, "--across")
    assert why in " ".join(found["differences"])
    assert found["ratio"] is None
    assert found["compared"] == 1


def test_five_runs_of_each_candidate_are_counted(tmp_path: Path) -> None:
    for day in range(1, 6):
        for name, sha256, ms in (("online", "a", 0.5), ("other", "e", 0.4)):
            make_run(
                tmp_path, f"2026010{day}-000000-{sha256 * 4}", path=f"/c/{name}.py",
                sha256=sha256 * 64, candidate_ms=ms + 0.01 * day,
                finished_at=f"2026-01-0{day}T00:00:00Z",
            )  # fmt: skip
    found = document(tmp_path, "online.py", "other.py")
    assert (found["unit"], found["cases"][0]["a_n"], found["cases"][0]["faster"]) == (
        "runs",
        5,
        "B",
    )
    assert found["cases"][0]["a_ms"] == pytest.approx(0.53)
