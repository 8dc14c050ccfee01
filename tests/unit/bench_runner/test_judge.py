# SPDX-License-Identifier: Apache-2.0
"""The judge: exactly one way to PASSED, and every other way has its name and its reason."""

from __future__ import annotations

import copy
import json
import math
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench_runner.contract.claims import Timeline
from bench_runner.contract.outcome import Ending, Outcome
from bench_runner.contract.status import Mode, Status
from bench_runner.judge.benchmark import geometric_mean
from bench_runner.judge.verdict import phases
from bench_runner.store.artifacts import LARGEST_ARTIFACT, MOST_ARTIFACTS, collect
from tests.unit.bench_runner.records import CASES, TESTS, conclude

PREFLIGHT = {
    "schema_version": "flaggems.preflight/v1",
    "records": [
        {
            "operator": "softmax",
            "nodeid": "b.py::t",
            "case_id": case,
            "override": True,
            "count": 1,
            "status": "passed",
        }
        for case in CASES
    ],
}
CORRECTNESS = {
    test: {"params": {}, "result": "passed", "opname": ["softmax"], "candidate_calls": 2}
    for test in TESTS
}
BENCHMARK = {
    "softmax": {
        "result": "passed",
        "reason": None,
        "details": [
            {
                "op_name": "softmax",
                "dtype": case.split("::")[3],
                "mode": "kernel",
                "level": "core",
                "result": [
                    {
                        "case_id": case,
                        "shape": [4, 4],
                        "latency_base": 4.0,
                        "latency": latency,
                        "speedup": 1000.0,
                        "candidate_source": "override",
                    }
                ],
            }
            for case, latency in zip(CASES, (1.0, 4.0), strict=True)
        ],
    }
}
PROFILE = {
    "profiler": "torch.profiler",
    "backend": "cpu",
    "case_id": CASES[0],
    "entered": 1,
    "exited": 1,
}
REFERENCE = {
    "schema_version": "flaggems.reference/v2",
    "status": "PASSED",
    "records": [{"case_id": case, "status": "PASSED"} for case in CASES],
}
TRACE = {"traceEvents": [{"name": "aten::softmax"}]}
GOOD: dict[Mode, dict[str, Any]] = {
    Mode.PREFLIGHT: {"report.json": PREFLIGHT},
    Mode.CORRECTNESS: {"report.json": CORRECTNESS},
    Mode.BENCHMARK: {"report.json": BENCHMARK},
    Mode.PROFILE: {"profile.json": PROFILE, "trace.json": TRACE, "operators.txt": "table"},
    Mode.REFERENCE: {"report.json": REFERENCE},
}


@pytest.mark.parametrize("mode", Mode)
def test_a_complete_report_passes(tmp_path: Path, mode: Mode) -> None:
    verdict = conclude(tmp_path, mode, GOOD[mode])
    assert verdict.status is Status.PASSED
    assert verdict.reason == ""
    assert all(check.ok for check in verdict.checks)


def test_the_speedup_is_computed_not_taken_from_the_report(tmp_path: Path) -> None:
    verdict = conclude(tmp_path, Mode.BENCHMARK, GOOD[Mode.BENCHMARK])
    assert verdict.speedup == pytest.approx(2.0)  # of 4x and 1x; the report claims 1000x


@pytest.mark.parametrize(
    ("spread", "speedup", "warning"),
    [(0.05, 2.0, None), (0.2, 2.0, "over 10%"), (0.6, None, "no speed-up is stated")],
)
def test_noise_is_said_and_too_much_of_it_says_nothing(
    tmp_path: Path, spread: float, speedup: float | None, warning: str | None
) -> None:
    report = changed(BENCHMARK, "softmax", "details", 1, "result", 0, "spread_base", value=spread)
    verdict = conclude(tmp_path, Mode.BENCHMARK, {"report.json": report})
    assert verdict.status is Status.PASSED
    assert verdict.speedup == (speedup and pytest.approx(speedup))
    assert [warning in text for text in verdict.warnings] == ([True] if warning else [])


def test_on_a_shared_cpu_no_speedup_is_stated(tmp_path: Path) -> None:
    quiet, crowded = tmp_path / "quiet", tmp_path / "crowded"
    for folder, cores, speedup in ((quiet, 0.1, pytest.approx(2.0)), (crowded, 1.0, None)):
        folder.mkdir()
        files = GOOD[Mode.BENCHMARK]
        verdict = conclude(folder, Mode.BENCHMARK, files, foreign_cores=cores)
        assert (verdict.status, verdict.speedup) == (Status.PASSED, speedup)
        assert ("other processes kept 1 cores" in " ".join(verdict.warnings)) == (speedup is None)


def changed(document: Any, *path: Any, value: Any) -> Any:
    """A copy with one value replaced, or removed where ``value`` is ``...``."""
    copied = copy.deepcopy(document)
    place = copied
    for key in path[:-1]:
        place = place[key]
    if value is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return copied


COUNTERS = {"profiler": "ncu", "collected": True, "reason": ""}
BAD_REPORTS = {
    "preflight of another operator": (
        Mode.PREFLIGHT,
        changed(PREFLIGHT, "records", 0, "operator", value="add"),
        "operator",
    ),
    "preflight without the override": (
        Mode.PREFLIGHT,
        changed(PREFLIGHT, "records", 1, "override", value=False),
        "not called in 1 of 2",
    ),
    "preflight with two calls": (
        Mode.PREFLIGHT,
        changed(PREFLIGHT, "records", 0, "count", value=2),
        "2 calls",
    ),
    "preflight without a case": (
        Mode.PREFLIGHT,
        changed(PREFLIGHT, "records", 0, value=...),
        "1 missing",
    ),
    "preflight with an unknown case": (
        Mode.PREFLIGHT,
        changed(PREFLIGHT, "records", 0, "case_id", value="made up"),
        "1 unknown",
    ),
    "preflight with a case twice": (
        Mode.PREFLIGHT,
        changed(PREFLIGHT, "records", value=PREFLIGHT["records"] * 2),
        "2 doubled",
    ),
    "preflight that is empty": (
        Mode.PREFLIGHT,
        changed(PREFLIGHT, "records", value=[]),
        "candidate injected",
    ),
    "preflight of another schema": (
        Mode.PREFLIGHT,
        changed(PREFLIGHT, "schema_version", value="flaggems.preflight/v9"),
        "schema_version",
    ),
    "correctness with a test that did not call": (
        Mode.CORRECTNESS,
        changed(CORRECTNESS, TESTS[1], "candidate_calls", value=0),
        "not called in 1 of 2 tests",
    ),
    "correctness without counts": (
        Mode.CORRECTNESS,
        changed(CORRECTNESS, TESTS[1], "candidate_calls", value=...),
        "not called in 1 of 2 tests",
    ),
    "correctness with a failure": (
        Mode.CORRECTNESS,
        changed(CORRECTNESS, TESTS[0], "result", value="failed"),
        "1 of 2 tests failed",
    ),
    "correctness with a result that nobody knows": (
        Mode.CORRECTNESS,
        changed(CORRECTNESS, TESTS[0], "result", value="splendid"),
        "1 of 2 tests failed",
    ),
    "correctness that lost a test": (
        Mode.CORRECTNESS,
        changed(CORRECTNESS, TESTS[0], value=...),
        "1 missing",
    ),
    "benchmark that timed the library": (
        Mode.BENCHMARK,
        changed(BENCHMARK, "softmax", "details", 0, "result", 0, "candidate_source", value="gems"),
        "candidate timed",
    ),
    "benchmark with a text for a latency": (
        Mode.BENCHMARK,
        changed(BENCHMARK, "softmax", "details", 0, "result", 0, "latency", value="fast"),
        "latency",
    ),
    "benchmark with no time at all": (
        Mode.BENCHMARK,
        changed(BENCHMARK, "softmax", "details", 0, "result", 0, "latency", value=0.0),
        "have no latency",
    ),
    "benchmark of another operator": (
        Mode.BENCHMARK,
        {"add": BENCHMARK["softmax"]},
        "operator",
    ),
    "benchmark that lost a case": (
        Mode.BENCHMARK,
        changed(BENCHMARK, "softmax", "details", 0, value=...),
        "1 missing",
    ),
    "reference that could not run": (
        Mode.REFERENCE,
        changed(
            REFERENCE,
            "records",
            0,
            value={
                "case_id": CASES[0],
                "status": "FAILED",
                "stage": "invoke",
                "failure": {
                    "category": "DTYPE_UNSUPPORTED",
                    "message": "not implemented for 'Half'\nmore",
                },
            },
        ),
        "DTYPE_UNSUPPORTED at invoke: not implemented for 'Half'",
    ),
}


@pytest.mark.parametrize("name", BAD_REPORTS)
def test_a_report_with_one_fault_fails_for_that_fault(tmp_path: Path, name: str) -> None:
    mode, report, why = BAD_REPORTS[name]
    verdict = conclude(tmp_path, mode, {"report.json": report})
    assert verdict.status is Status.FAILED
    assert why in verdict.reason
    assert "\n" not in verdict.reason


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"profile.json": {**PROFILE, "entered": 2}}, "entered 2"),
        ({"profile.json": {**PROFILE, "exited": 0}}, "left 0"),
        ({"profile.json": {**PROFILE, "backend": "nvidia"}}, "backend"),
        ({"profile.json": {**PROFILE, "case_id": "made up"}}, "case: made up"),
        ({"trace.json": {"traceEvents": []}}, "no events"),
        ({"trace.json": "[1, 2"}, "not a Chrome trace"),
        ({"trace.json": "[" * 100_000}, "not a Chrome trace"),
    ],
)
def test_a_profile_needs_scope_case_and_trace(
    tmp_path: Path, change: dict[str, Any], why: str
) -> None:
    verdict = conclude(tmp_path, Mode.PROFILE, {**GOOD[Mode.PROFILE], **change})
    assert verdict.status is Status.FAILED
    assert why in verdict.reason


@pytest.mark.parametrize(
    ("files", "warning"),
    [
        ({}, None),
        ({"counters.json": COUNTERS, "counters.csv": "ID"}, None),
        ({"counters.json": COUNTERS}, "no hardware counters: ncu left no counters.csv"),
        (
            {"counters.json": {**COUNTERS, "collected": False, "reason": "not on PATH"}},
            "no hardware counters: not on PATH",
        ),
    ],
)
def test_a_profile_without_hardware_counters_passes_and_says_so(
    tmp_path: Path, files: dict[str, Any], warning: str | None
) -> None:
    verdict = conclude(tmp_path, Mode.PROFILE, {**GOOD[Mode.PROFILE], **files})
    assert verdict.status is Status.PASSED
    assert list(verdict.warnings) == ([warning] if warning else [])


def test_a_failed_case_is_named_before_the_exit_code_that_follows(tmp_path: Path) -> None:
    report = changed(PREFLIGHT, "records", 0, "status", value="failed")
    report["records"][0]["error"] = "RuntimeError: boom"
    verdict = conclude(tmp_path, Mode.PREFLIGHT, {"report.json": report}, exit_code=1)
    assert verdict.status is Status.FAILED
    assert "RuntimeError: boom" in verdict.reason


def test_a_perfect_report_with_a_bad_exit_code_fails(tmp_path: Path) -> None:
    verdict = conclude(
        tmp_path,
        Mode.PREFLIGHT,
        GOOD[Mode.PREFLIGHT],
        exit_code=1,
        log="...\nERROR: the override of softmax was never called\n",
    )
    assert verdict.status is Status.FAILED
    assert verdict.reason == "session finished: the override of softmax was never called"


def test_all_skipped_is_neither_passed_nor_failed(tmp_path: Path) -> None:
    report = {test: {"result": "skipped", "reason": "no bf16 here"} for test in TESTS}
    verdict = conclude(
        tmp_path, Mode.CORRECTNESS, {"report.json": report}, baseline_skips=frozenset(TESTS)
    )
    assert verdict.status is Status.ALL_SKIP
    assert "no bf16 here" in verdict.reason


SKIP_TRICKS: dict[str, tuple[dict[str, Any], frozenset[str], int, str]] = {
    "all skipped by the candidate": (
        {test: {"result": "skipped"} for test in TESTS},
        frozenset(),
        0,
        "skips explained: 2 tests",
    ),
    "one skipped by the candidate": (
        {**CORRECTNESS, TESTS[0]: {"result": "skipped"}},
        frozenset({TESTS[1]}),
        0,
        f"first: {TESTS[0]}",
    ),
    "skipped after the candidate was called": (
        {**CORRECTNESS, TESTS[0]: {"result": "skipped", "candidate_calls": 3}},
        frozenset(TESTS),
        0,
        "skips explained",
    ),
    "all skipped, but not all tests": (
        {TESTS[0]: {"result": "skipped"}},
        frozenset(TESTS),
        0,
        "1 missing",
    ),
    "all skipped, and a bad exit": (
        {test: {"result": "skipped"} for test in TESTS},
        frozenset(TESTS),
        1,
        "session finished",
    ),
}


@pytest.mark.parametrize("name", SKIP_TRICKS)
def test_only_what_is_skipped_without_the_candidate_may_be_skipped(
    tmp_path: Path, name: str
) -> None:
    report, skips, code, why = SKIP_TRICKS[name]
    verdict = conclude(
        tmp_path,
        Mode.CORRECTNESS,
        {"report.json": report},
        exit_code=code,
        baseline_skips=skips,
    )
    assert verdict.status is Status.FAILED
    assert why in verdict.reason


@pytest.mark.parametrize("latency", [0.0, -1.0, 5e-324, 1e-300, 1e300])
@pytest.mark.parametrize("side", ["latency", "latency_base"])
def test_no_clock_tells_such_a_latency(tmp_path: Path, side: str, latency: float) -> None:
    report = changed(BENCHMARK, "softmax", "details", 0, "result", 0, side, value=latency)
    verdict = conclude(tmp_path, Mode.BENCHMARK, {"report.json": report})
    assert verdict.status is Status.FAILED
    assert "have no latency" in verdict.reason


NUMBER = st.one_of(st.floats(), st.integers(), st.none(), st.text(max_size=3), st.booleans())


@settings(max_examples=200, deadline=None)
@given(
    fields=st.dictionaries(
        st.sampled_from(
            ["latency", "latency_base", "spread", "spread_base", "samples", "shape", "params"]
        ),
        NUMBER,
    )
)
def test_no_measurement_can_break_the_judge(
    tmp_path_factory: pytest.TempPathFactory, fields: dict[str, Any]
) -> None:
    report = copy.deepcopy(BENCHMARK)
    report["softmax"]["details"][0]["result"][0].update(fields)
    verdict = conclude(
        tmp_path_factory.mktemp("job"), Mode.BENCHMARK, {"report.json": json.dumps(report)}
    )
    assert verdict.status in (Status.PASSED, Status.FAILED)


def test_a_case_that_failed_has_no_latency_whatever_else_it_says(tmp_path: Path) -> None:
    for number, change in enumerate(({"status": "failed"}, {"error": "boom"})):
        folder = tmp_path / str(number)
        folder.mkdir()
        report = copy.deepcopy(BENCHMARK)
        report["softmax"]["details"][0]["result"][0].update(change)
        verdict = conclude(folder, Mode.BENCHMARK, {"report.json": report})
        assert "have no latency" in verdict.reason


def test_a_report_beyond_measure_is_refused_unparsed(tmp_path: Path) -> None:
    verdict = conclude(tmp_path, Mode.PREFLIGHT, {"report.json": " " * (5 << 20)})
    assert verdict.status is Status.FAILED
    assert "larger than 4 MiB" in verdict.reason


def test_a_session_that_did_not_end_does_not_pass(tmp_path: Path) -> None:
    files = {**GOOD[Mode.PREFLIGHT], "timeline.json": {"imported": 1.0}}
    verdict = conclude(tmp_path, Mode.PREFLIGHT, files)
    assert verdict.status is Status.FAILED
    assert "before pytest ended" in verdict.reason


def test_reference_needs_every_case(tmp_path: Path) -> None:
    report = changed(REFERENCE, "records", 0, value=...)
    verdict = conclude(tmp_path, Mode.REFERENCE, {"report.json": report})
    assert verdict.status is Status.FAILED
    assert "1 missing" in verdict.reason


@pytest.mark.parametrize(
    ("ending", "status"),
    [
        (Ending.TIMEOUT, Status.TIMEOUT),
        (Ending.OOM, Status.OOM),
        (Ending.OUTPUT_LIMIT, Status.FAILED),
        (Ending.CANCELLED, Status.CANCELLED),
        (Ending.INFRASTRUCTURE, Status.INFRA_ERROR),
    ],
)
def test_a_perfect_report_of_a_killed_job_does_not_pass(
    tmp_path: Path, ending: Ending, status: Status
) -> None:
    verdict = conclude(tmp_path, Mode.PREFLIGHT, GOOD[Mode.PREFLIGHT], ending, exit_code=137)
    assert verdict.status is status
    assert verdict.reason


def test_exit_0_without_a_report_is_a_crash(tmp_path: Path) -> None:
    verdict = conclude(tmp_path, Mode.PREFLIGHT, {}, finished=False)
    assert verdict.status is Status.CRASHED
    assert "left no report.json" in verdict.reason


def test_a_signal_is_a_crash_with_its_name(tmp_path: Path) -> None:
    verdict = conclude(tmp_path, Mode.PREFLIGHT, {}, exit_code=139)
    assert verdict.status is Status.CRASHED
    assert "SIGSEGV" in verdict.reason


def test_a_usage_error_of_pytest_is_the_reason(tmp_path: Path) -> None:
    log = "ERROR: override softmax: no function 'softmx' in c.py\n"
    verdict = conclude(tmp_path, Mode.PREFLIGHT, {}, exit_code=4, log=log, finished=False)
    assert verdict.status is Status.FAILED
    assert "softmx" in verdict.reason


@pytest.mark.parametrize("text", ["", "null", "[]", "nonsense", '{"records": NaN}', "[" * 100_000])
@pytest.mark.parametrize("mode", [Mode.PREFLIGHT, Mode.CORRECTNESS, Mode.BENCHMARK])
def test_no_text_in_place_of_a_report_can_break_the_judge(
    tmp_path: Path, mode: Mode, text: str
) -> None:
    verdict = conclude(tmp_path, mode, {"report.json": text})
    assert verdict.status is Status.FAILED
    assert verdict.reason.startswith("report refused")


def test_links_and_devices_are_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    out = tmp_path / "out"
    out.mkdir()
    (out / "report.json").symlink_to(secret)
    out.rename(tmp_path / "prepared")
    collected = collect(tmp_path / "prepared", tmp_path / "kept")
    assert collected.names == ()
    assert "is a link" in collected.refused[0]


def test_odd_names_large_files_and_too_many_of_them_are_refused(tmp_path: Path) -> None:
    out = tmp_path / "prepared"
    out.mkdir()
    Path(os.fsdecode(bytes(out) + b"/\xff\xfe.bin")).write_text("odd")
    with (out / "large").open("wb") as file:
        file.truncate(LARGEST_ARTIFACT + 1)
    collected = collect(out, tmp_path / "kept")
    assert collected.names == ()
    refused = " ".join(collected.refused)
    assert "has an odd name" in refused
    assert "large: is larger than 64 MiB" in refused
    assert refused.encode()
    assert not out.exists()


def test_artifacts_are_counted(tmp_path: Path) -> None:
    out = tmp_path / "prepared"
    out.mkdir()
    for number in range(MOST_ARTIFACTS + 5):
        (out / f"z{number:03}").write_text("")
    collected = collect(out, tmp_path / "kept")
    assert len(collected.names) == MOST_ARTIFACTS
    assert "more than 64 files" in collected.refused[0]


def test_a_folder_that_the_job_took_away_is_an_empty_one(tmp_path: Path) -> None:
    collected = collect(tmp_path / "absent", tmp_path / "kept")
    assert collected.names == ()
    assert "No such file" in collected.refused[0]


def test_phases_add_up_to_the_wall_time(tmp_path: Path) -> None:
    found = conclude(tmp_path, Mode.PREFLIGHT, GOOD[Mode.PREFLIGHT]).phases
    assert found.start_s == pytest.approx(1, abs=0.01)
    assert found.import_s == pytest.approx(1, abs=0.01)
    assert found.pytest_s == pytest.approx(2, abs=0.01)
    assert found.queue_s == 0.5
    assert found.counters_s == 0.0


def test_a_second_session_for_counters_has_a_phase_of_its_own() -> None:
    outcome = Outcome(Ending.EXITED, 10.0, 40.0, 0)
    timeline = Timeline(first_line=11.0, imported=14.0, pytest_end=20.0, counters_end=38.0)
    found = phases(outcome, timeline, 0.0, 40.5)
    assert (found.start_s, found.import_s, found.pytest_s) == (1.0, 3.0, 6.0)
    assert (found.counters_s, found.collect_s) == (18.0, 2.5)


@given(st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=20))
def test_the_geometric_mean_of_inverses_is_the_inverse(values: list[float]) -> None:
    inverse = geometric_mean([1 / value for value in values])
    assert geometric_mean(values) * inverse == pytest.approx(1.0, rel=1e-12)
    assert min(values) <= geometric_mean(values) * (1 + 1e-12)
    assert math.isfinite(inverse)
