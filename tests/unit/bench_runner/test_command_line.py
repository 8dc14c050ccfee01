# SPDX-License-Identifier: Apache-2.0
"""The command line as a person meets it: quick help, one line for a fault, exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("torch", "triton", "flag_gems", "pydantic", "docker", "rich", "numpy")


def bench_runner(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bench_runner", *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        check=False,
    )


def imported(code: str) -> set[str]:
    report = f"{code}\nimport sys; print('\\n'.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", report], capture_output=True, text=True, check=True
    )
    return {name.partition(".")[0] for name in done.stdout.splitlines()}


def test_help_imports_nothing_heavy() -> None:
    code = "from click.testing import CliRunner; from bench_runner.cli import cli;"
    code += "assert CliRunner().invoke(cli, ['--help']).exit_code == 0"
    assert imported(code).isdisjoint(HEAVY)


def test_no_verb_imports_torch_or_flag_gems() -> None:
    code = "from bench_runner.cli import VERBS, cli; import click\n"
    code += "for verb in VERBS: assert cli.get_command(click.Context(cli), verb), verb"
    assert imported(code).isdisjoint({"torch", "triton", "flag_gems", "numpy"})


def test_the_harness_reads_its_orders_without_pydantic() -> None:
    assert imported("import bench_runner.harness.session").isdisjoint(HEAVY)


def test_help_lists_every_verb() -> None:
    text = bench_runner("--help").stdout
    for verb in ("run", "cases", "list", "show", "report", "doctor", "images"):
        assert f"\n  {verb} " in text


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("run",), "--op with --candidate, or --matrix"),
        (("run", "--op", "softmax"), "needs a candidate"),
        (("run", "--op", "sofmax", "--modes", "reference"), "unknown operator 'sofmax'"),
        (("run", "--op", "softmax", "--candidate", "absent.py"), "no file"),
        (("run", "--op", "softmax", "--modes", "reference,fly"), "unknown mode 'fly'"),
        (("run", "--op", "softmax", "--modes", "reference", "--backend", "tpu"), "backends.yaml"),
        (("run", "--op", "softmax", "--modes", "reference", "--memory", "lots"), "not a size"),
        (("run", "--op", "softmax", "--matrix", __file__), "either --op"),
        (("run", "--resume", "none"), "no run 'none'"),
        (("run", "--resume", "none", "--op", "softmax"), "leave out --op"),
        (("run", "--resume", "none", "--timeout", "5"), "leave out --timeout"),
        (("run", "--resume", "none", "--executor", "local"), "leave out --executor"),
        (("run", "--op", "softmax", "--modes", ""), "no mode given"),
        (
            ("run", "--op", "softmax", "--candidate", __file__, "--modes", "reference"),
            "drop --candidate",
        ),
        (
            ("run", "--op", "softmax", "--candidate", __file__, "--override", "__doc__"),
            "not a name an operator can have",
        ),
        (
            ("run", "--op", "softmax", "--candidate", __file__, "--memory", "10"),
            "memory_bytes",
        ),
        (("run", "--op", "softmax", "--candidate", __file__, "--memory", "9" * 400), "not a size"),
        (("show", "latest"), "no run 'latest'"),
        (("report", "latest", "--html", "x.html"), "no run 'latest'"),
        (("cases", "--op", "sofmax"), "unknown operator"),
    ],
)
def test_a_fault_of_usage_is_one_line_and_exit_code_2(
    tmp_path: Path, arguments: tuple[str, ...], why: str
) -> None:
    if arguments[0] in ("run", "cases") and "--resume" not in arguments:
        arguments = (*arguments, "--executor", "local")
    done = bench_runner(*arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert why in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not list(tmp_path.glob("runs/2*"))


def test_a_damaged_run_is_infrastructure(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "20260101-000000-aaaa"
    folder.mkdir(parents=True)
    (folder / "run.json").write_text("{")
    done = bench_runner("show", "latest", cwd=tmp_path)
    assert done.returncode == 3
    assert str(folder / "run.json") in done.stderr
    listed = bench_runner("list", "--format", "json", cwd=tmp_path)
    assert (listed.returncode, json.loads(listed.stdout)) == (0, [])
    assert "left out" in listed.stderr


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    line = ("run", "--op", "softmax", "--candidate", __file__, "--executor", "local")
    done = bench_runner(*line, "--runs-dir", "file/runs", cwd=tmp_path)
    assert done.returncode == 3
    assert "file/runs" in done.stderr
    assert "Not a directory" in done.stderr
    assert "internal error" not in done.stderr


def test_debug_shows_the_traceback(tmp_path: Path) -> None:
    assert "Traceback" in bench_runner("--debug", "show", "latest", cwd=tmp_path).stderr


def test_doctor_says_what_is_there() -> None:
    done = bench_runner("doctor", "--format", "json")
    findings = {finding["what"]: finding for finding in json.loads(done.stdout)}
    assert findings["cpu device"]["ok"]
    assert findings["local executor"]["ok"]
    assert done.returncode == 0
    assert all(finding["ok"] or finding["advice"] for finding in findings.values())
