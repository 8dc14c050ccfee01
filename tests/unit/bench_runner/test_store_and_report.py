# SPDX-License-Identifier: Apache-2.0
"""Runs on disk, the records' refusals, and the report page."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path

import pytest
from pydantic import ValidationError

from bench_runner.contract.job import Candidate, Job
from bench_runner.contract.record import ContractError
from bench_runner.contract.status import ExitCode, Mode, Status, exit_code
from bench_runner.contract.verdict import CaseTiming, Check, RunRecord, Verdict
from bench_runner.judge.verdict import now, without_a_process
from bench_runner.report.html import render
from bench_runner.store.runs import RunFolder, RunNotFound, RunStore
from bench_runner.units import milliseconds, ratio
from tests.unit.bench_runner.records import CASES, make_job

OK = (Check(name="looked", ok=True),)


def make_run(root: Path, jobs: tuple[Job, ...], run_id: str = "20260101-000000-abcd") -> RunFolder:
    record = RunRecord(id=run_id, created_at=now(), command=("bench-runner", "run"), jobs=jobs)
    return RunStore(root).create(record)


def timed(job: Job) -> Verdict:
    timings = tuple(
        CaseTiming(case_id=case, dtype="float32", shape="[4, 4]", baseline_ms=2.0, candidate_ms=ms)
        for case, ms in zip(CASES, (1.0, 4.0), strict=True)
    )
    return Verdict(
        key=job.key,
        job=job,
        status=Status.PASSED,
        checks=OK,
        timings=timings,
        speedup=1.0,
        finished_at=now(),
    )


def test_a_verdict_survives_the_disk(tmp_path: Path) -> None:
    job = make_job(Mode.BENCHMARK)
    run = make_run(tmp_path, (job,))
    assert run.verdict(job) is None
    run.write_verdict(timed(job))
    assert RunStore(tmp_path).open("latest").verdict(job) == timed(job)
    assert not list(run.path.rglob(".*"))


@pytest.mark.parametrize("text", ["", "{}", "nonsense", '{"schema_version": "v0"}'])
def test_a_damaged_verdict_is_named(tmp_path: Path, text: str) -> None:
    job = make_job()
    run = make_run(tmp_path, (job,))
    run.write_verdict(without_a_process(job, Status.CANCELLED, "because"))
    file = run.job_folder(job) / "verdict.json"
    file.write_text(text)
    with pytest.raises(ContractError, match=r"verdict\.json"):
        run.verdict(job)


def test_a_verdict_in_the_wrong_folder_is_not_taken(tmp_path: Path) -> None:
    one, other = make_job(), make_job(timeout_s=5)
    run = make_run(tmp_path, (one, other))
    run.write_verdict(without_a_process(one, Status.FAILED, "because"))
    run.job_folder(one).rename(run.job_folder(other))
    with pytest.raises(ContractError, match="another job"):
        run.verdict(other)


def test_runs_are_found_by_id_beginning_folder_and_latest(tmp_path: Path) -> None:
    for run_id in ("20260101-000000-aaaa", "20260102-000000-bbbb"):
        make_run(tmp_path, (make_job(),), run_id)
    store = RunStore(tmp_path)
    assert store.open("latest").record.id.endswith("bbbb")
    assert store.open("20260101").record.id.endswith("aaaa")
    assert store.open(str(tmp_path / "20260101-000000-aaaa")).record.id.endswith("aaaa")
    with pytest.raises(RunNotFound, match="fits 2 runs"):
        store.open("2026")
    with pytest.raises(RunNotFound, match="bench-runner list"):
        store.open("")
    with pytest.raises(RunNotFound):
        RunStore(tmp_path / "absent").open("latest")


@pytest.mark.parametrize(
    "change",
    [
        {"status": Status.PASSED, "reason": "why"},
        {"status": Status.PASSED, "reason": "", "checks": ()},
        {"status": Status.PASSED, "reason": "", "checks": (Check(name="x", ok=False),)},
        {"status": Status.FAILED, "reason": ""},
        {"speedup": 2.0},
        {"speedup": float("inf")},
        {"key": "f" * 64},
        {"unknown": 1},
    ],
)
def test_a_verdict_that_contradicts_itself_cannot_be_made(change: dict[str, object]) -> None:
    job = make_job()
    fields = {
        "key": job.key,
        "job": job,
        "status": Status.FAILED,
        "reason": "because",
        "checks": OK,
        "finished_at": now(),
    }
    Verdict.model_validate(fields)
    with pytest.raises(ValidationError):
        Verdict.model_validate({**fields, **change})


@pytest.mark.parametrize(
    ("statuses", "code"),
    [
        ([Status.PASSED, Status.ALL_SKIP, Status.UNSUPPORTED], ExitCode.OK),
        ([Status.PASSED, Status.TIMEOUT], ExitCode.CANDIDATE),
        ([Status.FAILED, Status.INFRA_ERROR], ExitCode.INFRASTRUCTURE),
        ([], ExitCode.OK),
    ],
)
def test_exit_codes(statuses: list[Status], code: ExitCode) -> None:
    assert exit_code(statuses) is code


class Tags(HTMLParser):
    """Collects what would run or load in a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.loads: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append(tag)
        self.loads += [name for name, _ in attrs if name in ("src", "href") or name[:2] == "on"]


def test_the_report_ranks_candidates_and_escapes_what_they_wrote(tmp_path: Path) -> None:
    hostile = '<script>alert("x")</script>'
    bad = make_job(Mode.BENCHMARK, path=f"/c/{hostile}.py", sha256="c" * 64)
    good = make_job(Mode.BENCHMARK)
    run = make_run(tmp_path, (bad, good))
    run.write_verdict(without_a_process(bad, Status.FAILED, f"says {hostile}"))
    run.write_verdict(timed(good))
    page = render(run)
    tags = Tags()
    tags.feed(page)
    assert "script" not in tags.found
    assert tags.loads == []
    assert page.index("online:softmax") < page.index("says &lt;script&gt;")
    # Worst case first: 2 ms against 4 ms is 0.50x, against 1 ms 2.00x.
    assert page.index("0.50×") < page.index("2.00×")


def test_the_report_of_an_unfinished_run_says_so(tmp_path: Path) -> None:
    assert "not run" in render(make_run(tmp_path, (make_job(),)))


@pytest.mark.parametrize(
    ("value", "text"), [(0.0123, "12.3 µs"), (3.0, "3 ms"), (1234.5, "1.234 s")]
)
def test_latencies_have_readable_units(value: float, text: str) -> None:
    assert milliseconds(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(2.345, "2.35×"), (0.1, "0.10×"), (0.00423, "0.0042×"), (9.41e-5, "0.000094×")],
)
def test_ratios_keep_their_figures(value: float, text: str) -> None:
    assert ratio(value) == text


def test_records_refuse_what_json_cannot_hold() -> None:
    with pytest.raises(ValidationError):
        make_job(timeout_s=float("nan"))
    with pytest.raises(ValidationError):
        Candidate(path="/c.py", function="not a name", sha256="a" * 64)
    assert json.loads(make_job().model_dump_json())["mode"] == "preflight"
