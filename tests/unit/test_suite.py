# SPDX-License-Identifier: Apache-2.0
"""The fingerprint changes with every file that sways a verdict, and with nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bench_runner.suite import suite_fingerprint, suite_root

COVERED = (
    "pyproject.toml",
    "flag_gems/__init__.py",
    "flag_gems/ops/add.py",
    "triton_cpu/compiler.py",
    "bench_runner/harness/session.py",
    "bench_runner/judge/verdict.py",
    "benchmark/test_add.py",
    "tests/test_add.py",
    "tests/conftest.py",
)
NOT_COVERED = (
    "README.md",
    "bench_runner/report/page.html.j2",
    "tests/unit/test_x.py",
    "flag_gems/__pycache__/a.cpython-311.pyc",
    "flag_gems/stale.pyc",
    "examples/candidate.py",
)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in (*COVERED, *NOT_COVERED):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return tmp_path


@pytest.mark.parametrize("name", COVERED)
def test_a_covered_file_counts(tree, name):
    before = suite_fingerprint(tree)
    (tree / name).write_text("changed")
    assert suite_fingerprint(tree) != before


@pytest.mark.parametrize("name", NOT_COVERED)
def test_another_file_does_not(tree, name):
    before = suite_fingerprint(tree)
    (tree / name).unlink()
    assert suite_fingerprint(tree) == before


def test_a_name_counts_as_much_as_a_content(tree):
    before = suite_fingerprint(tree)
    (tree / "benchmark/test_add.py").rename(tree / "benchmark/test_mul.py")
    assert suite_fingerprint(tree) != before


def test_bytes_cannot_move_from_one_file_to_the_next(tree):
    (tree / "benchmark/a.py").write_text("xy")
    (tree / "benchmark/b.py").write_text("z")
    before = suite_fingerprint(tree)
    (tree / "benchmark/a.py").write_text("x")
    (tree / "benchmark/b.py").write_text("yz")
    assert suite_fingerprint(tree) != before


def test_the_root_is_this_checkout_and_is_found_without_an_import():
    code = (
        "import sys; from bench_runner.suite import suite_root; print(suite_root());"
        "assert 'flag_gems' not in sys.modules"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert Path(result.stdout.strip()) == suite_root() == Path(__file__).resolve().parents[2]


def test_an_absent_suite_is_a_typed_error(tmp_path):
    (tmp_path / "flag_gems").mkdir()
    (tmp_path / "flag_gems" / "__init__.py").write_text("")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r});"
        "sys.meta_path = [f for f in sys.meta_path if 'editable' not in repr(f).lower()];"
        "from bench_runner.suite import SuiteNotFoundError, suite_root\n"
        "try: suite_root()\n"
        "except SuiteNotFoundError as error: print(error)"
    )
    environment = {"PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    assert result.stdout.startswith(f"{tmp_path} holds flag_gems but no benchmark/")
