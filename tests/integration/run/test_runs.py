# SPDX-License-Identifier: Apache-2.0
"""The main job end to end: the six examples, interrupted runs, and what remains of each."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.integration.run.conftest import EXAMPLES, Bench

EXPECTED = yaml.safe_load((EXAMPLES / "expected.yaml").read_text())


@pytest.mark.parametrize("bench", ["docker"], indirect=True)
@pytest.mark.docker
def test_the_six_examples_in_containers(bench: Bench) -> None:
    six_examples(bench)


@pytest.mark.parametrize("bench", ["local"], indirect=True)
def test_the_six_examples_in_processes(bench: Bench) -> None:
    six_examples(bench)


def six_examples(bench: Bench) -> None:
    document = bench("run", "--matrix", str(EXAMPLES / "matrix.yaml"), "--jobs", "2", code=1)
    ended: dict[str, dict[str, str]] = {}
    for job in document["jobs"]:
        name = Path(job["candidate"]["path"]).stem
        ended.setdefault(name, {})[job["mode"]] = job["status"]
    assert ended == EXPECTED
    assert document["complete"]
    reasons = {
        Path(job["candidate"]["path"]).stem: job["verdict"].get("reason", "")
        for job in document["jobs"]
        if job["mode"] in ("preflight", "correctness") and job["status"] != "CANCELLED"
    }
    assert "NotImplementedError: no kernel for torch." in reasons["rms_norm_raises"]
    assert "flag_gems.rmsnorm" in reasons["rms_norm_uncalled"]
    assert "tests failed" in reasons["rms_norm_bfloat16"]
    for job in document["jobs"]:
        if job["mode"] == "benchmark" and job["status"] == "PASSED":
            verdict = job["verdict"]
            assert len(verdict["timings"]) == verdict["counts"]["expected"] > 0
            said = " ".join(verdict["warnings"])
            unsure = "no speed-up is stated" in said or "other processes" in said
            assert unsure or verdict["speedup"] > 0
            assert verdict["foreign_cores"] is not None
        if job["mode"] == "profile" and job["status"] == "PASSED":
            assert {"trace.json", "operators.txt"} <= set(job["verdict"]["artifacts"])
    nothing_left(bench)
    report = bench.runs / "report.html"
    subprocess.run(bench.command("report", "latest", "--html", str(report)), check=True)
    assert "rms_norm_uncalled" in report.read_text()
    shown = bench("show", "latest")
    verified = subprocess.run(
        [sys.executable, str(EXAMPLES / "verify.py")],
        input=json.dumps(shown),
        text=True,
        capture_output=True,
        check=False,
    )
    assert verified.returncode == 0, verified.stdout


def nothing_left(bench: Bench) -> None:
    if bench.executor == "docker":
        assert bench.containers() == []
    assert not list(bench.runs.glob("*/jobs/*/out"))
    assert not list(bench.runs.glob("*/jobs/*/scratch"))


def start(bench: Bench, candidate: Path) -> subprocess.Popen[bytes]:
    line = ["run", "--op", "softmax", "--candidate", str(candidate)]
    return subprocess.Popen(bench.command(*line), stdout=subprocess.DEVNULL)


def verdicts(bench: Bench) -> dict[str, tuple[float, str]]:
    """Every verdict on disk: when it was written and what it says."""
    return {
        path.parent.name: (path.stat().st_mtime_ns, json.loads(path.read_text())["status"])
        for path in bench.runs.glob("2*/jobs/*/verdict.json")
    }


@pytest.fixture
def candidate(tmp_path: Path) -> Path:
    path = tmp_path / "candidate.py"
    path.write_text((EXAMPLES / "candidates" / "softmax_online.py").read_text())
    return path


def test_a_run_that_was_killed_goes_on_and_repeats_nothing(bench: Bench, candidate: Path) -> None:
    choice = random.Random()
    runner = start(bench, candidate)
    before: dict[str, Any] = {}
    # A runner that is killed before it has planned leaves nothing to go on with.
    while not any(bench.runs.glob("*/run.json")):
        time.sleep(0.05)
    for _ in range(3):
        time.sleep(choice.uniform(1.0, 8.0))
        runner.send_signal(signal.SIGKILL)
        runner.wait()
        before.update(verdicts(bench))
        runner = subprocess.Popen(bench.command("run", "--resume", "latest"))
    assert runner.wait() == 0
    after = verdicts(bench)
    assert len(after) == 4
    assert {status for _, status in after.values()} == {"PASSED"}
    # What had its verdict before a kill still has the very same file.
    assert {name: after[name] for name in before} == before
    nothing_left(bench)


def test_ctrl_c_leaves_nothing_behind_and_says_how_to_go_on(bench: Bench, candidate: Path) -> None:
    line = bench.command("run", "--op", "softmax", "--candidate", str(candidate))
    runner = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(5)
    runner.send_signal(signal.SIGINT)
    _, talk = runner.communicate(timeout=60)
    assert runner.returncode == 130, talk
    assert "bench-runner run --resume" in talk
    assert "Traceback" not in talk
    nothing_left(bench)
    assert bench("run", "--resume", "latest", code=0)["complete"]


def test_an_edited_candidate_is_not_taken_as_done(bench: Bench, candidate: Path) -> None:
    line = ["run", "--op", "softmax", "--candidate", str(candidate), "--modes", "preflight"]
    (job,) = bench(*line, code=0)["jobs"]
    (again,) = bench("run", "--resume", "latest", code=0)["jobs"]
    assert again["verdict"]["finished_at"] == job["verdict"]["finished_at"]
    candidate.write_text("def softmax(input, dim=-1, dtype=None):\n    raise ValueError('new')\n")
    (edited,) = bench("run", "--resume", "latest", code=1)["jobs"]
    assert edited["status"] == "FAILED"
    assert "ValueError: new" in edited["verdict"]["reason"]


def test_reference_runs_the_baseline_alone(bench: Bench, tmp_path: Path) -> None:
    metrics = tmp_path / "bench.prom"
    line = ["run", "--op", "rms_norm", "--modes", "reference", "--textfile", str(metrics)]
    (job,) = bench(*line, code=0)["jobs"]
    labels = 'backend="cpu",mode="reference",operator="rms_norm",status="PASSED"'
    assert f"bench_runner_jobs{{{labels}}} 1.0" in metrics.read_text()
    assert (job["status"], job["candidate"]) == ("PASSED", None)
    assert job["verdict"]["counts"]["passed"] == job["verdict"]["counts"]["expected"] > 0


def test_a_push_that_fails_costs_the_exit_code_and_not_the_table(bench: Bench) -> None:
    line = ["run", "--op", "rms_norm", "--modes", "reference"]
    # Port 9 discards; nothing listens there.
    (job,) = bench(*line, "--pushgateway", "http://127.0.0.1:9", code=3)["jobs"]
    assert job["status"] == "PASSED"


def test_cases_lists_what_a_candidate_is_held_against(bench: Bench) -> None:
    line = bench.command("cases", "--op", "rms_norm", "--executor", bench.executor)
    done = subprocess.run([*line, "--format", "json"], capture_output=True, text=True, check=True)
    document = json.loads(done.stdout)
    ids = [case["case_id"] for entry in document["cases"]["benchmarks"] for case in entry["cases"]]
    assert ids
    assert all(case.startswith("benchmark/test_rms_norm.py::") for case in ids)
    assert document["tests"]
    assert not list(bench.runs.glob(".cases*"))


def test_a_job_records_where_its_time_went(bench: Bench, candidate: Path) -> None:
    line = ["run", "--op", "softmax", "--candidate", str(candidate), "--modes", "preflight"]
    (job,) = bench(*line, code=0)["jobs"]
    phases = job["verdict"]["phases"]
    assert all(phases[name] > 0 for name in ("start_s", "import_s", "pytest_s", "collect_s"))
