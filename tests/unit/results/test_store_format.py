# SPDX-License-Identifier: Apache-2.0
"""A store says which format it has; an old one is taken over, a newer one refused in a line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench_runner.contract.record import ContractError
from bench_runner.store.format import FORMAT, MARK, StoreTooNew
from bench_runner.store.runs import RunStore
from tests.unit.results.stored import make_run


def test_an_unmarked_store_is_read_as_it_is_and_marked_by_the_next_run(tmp_path: Path) -> None:
    make_run(tmp_path, "20260101-000000-aaaa")
    (tmp_path / MARK).unlink()
    assert RunStore(tmp_path).ids() == ["20260101-000000-aaaa"]
    assert not (tmp_path / MARK).exists()
    make_run(tmp_path, "20260102-000000-bbbb")
    assert json.loads((tmp_path / MARK).read_text())["format"] == FORMAT


@pytest.mark.parametrize("verb", [["list"], ["show", "latest"], ["metrics"], ["serve"]])
def test_a_newer_store_is_refused_by_every_verb(tmp_path: Path, verb: list[str]) -> None:
    make_run(tmp_path, "20260101-000000-aaaa")
    mark = json.loads((tmp_path / MARK).read_text())
    (tmp_path / MARK).write_text(json.dumps({**mark, "format": FORMAT + 1}))
    with pytest.raises(StoreTooNew):
        RunStore(tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "bench_runner", *verb, "--runs-dir", str(tmp_path)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (3, "")
    assert f"format {FORMAT + 1}" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_damaged_mark_is_named(tmp_path: Path) -> None:
    (tmp_path / MARK).write_text("{")
    with pytest.raises(ContractError, match=MARK):
        RunStore(tmp_path)


def test_reindex_tells_what_it_found(tmp_path: Path) -> None:
    def reindex(*more: str) -> subprocess.CompletedProcess[str]:
        line = [sys.executable, "-m", "bench_runner", "reindex", "--runs-dir", str(tmp_path)]
        return subprocess.run([*line, *more], capture_output=True, text=True, check=False)

    make_run(tmp_path, "20260101-000000-aaaa")
    bad = make_run(tmp_path, "20260102-000000-bbbb")
    done = reindex("--format", "json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert (document["runs"], document["jobs_with_a_verdict"]) == (2, 8)
    assert document["bytes"] > 0
    (bad.path / "run.json").write_text("{")
    done = reindex()
    assert done.returncode == 3
    assert done.stdout.startswith("1 runs, 4 jobs with a verdict, ")
    assert "run.json" in done.stderr
