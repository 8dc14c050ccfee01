# SPDX-License-Identifier: Apache-2.0
"""Accuracy sessions under --override: their report, their verdict, their words."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROBE = """
import pytest, torch
import flag_gems
from flag_gems.testing import assert_close, options, to_reference

@pytest.mark.softmax
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize("scale", [1.0, float("inf")])
def test_called(dtype, scale):
    x = torch.randn(4, 8, dtype=dtype)
    for _ in range(2):
        res = flag_gems.softmax(x, -1)
    assert_close(res, torch.softmax(to_reference(x, upcast=True), -1), dtype)

@pytest.mark.softmax
@pytest.mark.skip(reason="not today")
def test_skipped():
    flag_gems.softmax(torch.randn(2))

@pytest.mark.neg
def test_not_called():
    assert options.quick and options.reference == "cpu"
"""
NODE = "tests/test_probe.py::"


@pytest.fixture(autouse=True)
def _probe(checkout):
    checkout.write("tests/test_probe.py", PROBE)
    yield
    (checkout.root / "tests/test_probe.py").unlink()


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_report_counts_the_candidates_calls_case_by_case(checkout, good, workers):
    done = checkout.pytest(
        "-q", "tests/test_probe.py", "--quick", "--ref", "cpu", "--record", "json", *workers,
        "--override", f"softmax:{good}", output=True,
    )  # fmt: skip
    assert done.code == 0, done.text
    assert set(done.report) == {
        *(f"{NODE}test_called[{s}-dtype{d}]" for s in ("1.0", "inf") for d in (0, 1)),
        f"{NODE}test_skipped",
        f"{NODE}test_not_called",
    }
    assert done.report[f"{NODE}test_called[inf-dtype1]"] == {
        "params": {"dtype": "float16", "scale": "inf"},
        "result": "passed",
        "opname": ["softmax"],
        "reason": None,
        "candidate_calls": 2,
    }
    assert done.report[f"{NODE}test_skipped"] == {
        "params": {},
        "result": "skipped",
        "opname": ["softmax"],
        "reason": "not today",
        "candidate_calls": 0,
    }
    assert done.report[f"{NODE}test_not_called"]["candidate_calls"] == 0


def test_without_override_there_is_no_count_and_marks_select(checkout):
    done = checkout.pytest(
        "-q", "tests/test_probe.py", "-m", "softmax", "--record", "json", output=True
    )
    assert done.code == 0, done.text
    assert len(done.report) == 5
    assert all("candidate_calls" not in record for record in done.report.values())


def test_unused_override_fails_the_session_with_one_line(checkout, good):
    done = checkout.pytest(
        "-q", "tests/test_probe.py", "--quick", "--ref", "cpu", "-m", "neg",
        "--override", f"softmax:{good}", output=True,
    )  # fmt: skip
    assert done.code == 1, done.text
    (line,) = [line for line in done.stdout.splitlines() if "override never called" in line]
    assert f"flag_gems.softmax ({good}:softmax)" in line
    assert "Traceback" not in done.text
    assert done.report[f"{NODE}test_not_called"]["result"] == "passed"


def test_all_skipped_session_only_restores(checkout, good):
    done = checkout.pytest(
        "-q", "tests/test_probe.py", "-k", "test_skipped", "--override", f"softmax:{good}"
    )
    assert done.code == 0, done.text
    assert "never called" not in done.text


def test_unused_override_is_judged_over_all_workers(checkout, good):
    done = checkout.pytest(
        "-q", "tests/test_probe.py", "--quick", "--ref", "cpu", "-m", "neg", "-n", "2",
        "--override", f"softmax:{good}",
    )  # fmt: skip
    assert done.code == 1, done.text
    assert done.stdout.count("override never called") == 1


def test_candidate_that_skips_xfails_or_ends_the_session_does_not_get_away(checkout):
    done = {}
    for how in ("skip('x')", "xfail('x')", "exit('x', returncode=0)"):
        path = checkout.candidate("leaves.py", f"import pytest\ndef f(*a): pytest.{how}\n")
        done[how[:4]] = checkout.pytest(
            "-q", "tests/test_probe.py", "-m", "softmax", "--override", f"softmax:{path}:f",
            output=True,
        )  # fmt: skip
    assert [outcome.code for outcome in done.values()] == [1, 1, 1]
    for how in ("skip", "xfai"):
        record = done[how].report[f"{NODE}test_called[1.0-dtype0]"]
        assert (record["result"], record["candidate_calls"]) == ("failed", 1)
        assert "skipped after 1 candidate calls" in record["reason"]
    assert "tests did not run" in done["exit"].text


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("softmax:/absent.py", "candidate file '/absent.py' does not exist"),
        ("softmax", "override 'softmax': expected OPERATOR:FILE[:FUNCTION]"),
        ("softmax:{good}:absent", "has no function 'absent' (it has softmax, run)"),
    ],
)
def test_bad_override_is_one_line_and_leaves_no_stale_report(checkout, good, override, message):
    done = checkout.pytest(
        "-q", "tests/test_probe.py", "--override", override.format(good=good), output=True
    )
    assert done.code == 4
    assert message in done.stderr
    assert done.stderr.count("\n") <= 2
    assert "Traceback" not in done.text
    assert done.report is None


def test_import_error_shows_the_candidates_own_frames(checkout):
    path = checkout.candidate("broken.py", "def deep():\n    return 1 / 0\nvalue = deep()\n")
    done = checkout.pytest("-q", "tests/test_probe.py", "--override", f"softmax:{path}")
    assert done.code == 4
    assert f'File "{path}", line 2, in deep' in done.stderr
    assert "ZeroDivisionError: division by zero" in done.stderr
    assert "flag_gems/candidate.py" not in done.stderr
    assert f"ERROR: candidate file {path} failed to import" in done.stderr


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("pytest.skip('no', allow_module_level=True)", "Skipped: no"),
        ("pytest.exit('bye', 0)", "Exit: bye"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    ],
)
def test_a_candidate_cannot_end_the_session_when_it_is_imported(checkout, line, reason):
    path = checkout.candidate("ends.py", f"import pytest\n{line}\n")
    done = checkout.pytest("-q", "tests/test_probe.py", "--override", f"softmax:{path}")
    assert done.code == 4, done.text
    assert f"ERROR: candidate file {path} failed to import: {reason}" in done.stderr
    assert "INTERNALERROR" not in done.text


def test_configuration_file_and_list_overrides(checkout, good):
    config = checkout.candidate(
        "o.yaml", f"overrides:\n  softmax:\n    file: '{good}'\n    function: softmax\n"
    )
    done = checkout.pytest(
        "-q", "tests/test_probe.py", "-k", "test_called", "--override-config", config,
        "--list-overrides",
    )  # fmt: skip
    assert done.code == 0, done.text
    assert f"override: flag_gems.softmax -> {good}:softmax\n" in done.stdout


def test_a_file_that_cannot_be_imported_is_in_the_report(checkout):
    checkout.write("tests/test_probe.py", "import no_such_module_\n")
    done = checkout.pytest("-q", "tests/test_probe.py", output=True)
    assert done.code == 2
    assert done.report["tests/test_probe.py"]["result"] == "failed"
    assert "No module named 'no_such_module_'" in done.report["tests/test_probe.py"]["reason"]


def test_log_is_one_json_object_a_line(checkout):
    target = checkout.outside / "report.log"
    done = checkout.pytest(
        "-q", "tests/test_probe.py", "-k", "test_skipped", "--record", "log", "--output", target
    )
    assert done.code == 0
    (line,) = target.read_text().splitlines()
    assert '"result": "skipped"' in line


def test_reference_only_refuses_tests(checkout):
    done = checkout.pytest("-q", "tests/test_probe.py", "--reference-only")
    assert done.code == 4
    assert "--reference-only is for benchmark/ only" in done.stderr


def test_unwritable_output_is_refused_before_anything_runs(checkout):
    done = checkout.pytest("-q", "tests/test_probe.py", "--output", "/absent/folder/r.json")
    assert done.code == 4
    assert "its folder does not exist" in done.stderr


def test_a_session_without_operators_imports_no_torch(checkout):
    checkout.write(
        "tests/test_probe.py",
        "import sys\ndef test_light():\n    assert not {'torch', 'flag_gems'} & set(sys.modules)\n",
    )
    done = checkout.python("-m", "pytest", "-p", "no:cacheprovider", "-q", "tests/test_probe.py")
    assert done.code == 0, done.text


def test_sessions_side_by_side_keep_their_candidates_apart(checkout, good):
    wrong = checkout.candidate("wrong.py", "def softmax(x, dim=-1): return x * 0\n")
    line = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "tests/test_probe.py"]
    sessions = [
        subprocess.Popen(
            [
                *line,
                "-m",
                "softmax",
                *(part for path in candidate for part in ("--override", path)),
            ],
            cwd=checkout.root,
            env=checkout.environment(),
            stdout=subprocess.DEVNULL,
        )
        for candidate in ([f"softmax:{good}"], [f"softmax={wrong}"], [])
    ]
    assert [session.wait(timeout=120) for session in sessions] == [0, 1, 0]


def test_help_lists_the_options_and_both_folders_go_together(checkout):
    text = checkout.pytest("tests", "benchmark", "--help").stdout
    for option in ("--override=SPEC", "--override-config=PATH", "--list-overrides", "--case-id="):
        assert option in text
    for option in ("--ref={device,cpu}", "--profile-warmup=N", "--reference-only", "--shape_file="):
        assert option in text
    done = checkout.pytest("-q", "tests", "benchmark", "--collect-only")
    assert done.code == 0, done.text
    assert "tests/test_probe.py::test_not_called" in done.stdout
    assert "benchmark/test_softmax.py::test_softmax" in done.stdout
