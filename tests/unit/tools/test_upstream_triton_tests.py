# SPDX-License-Identifier: Apache-2.0
"""The gate over upstream Triton's tests fails for what is not in the table of exceptions."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest

TOOLS = Path(__file__).parents[3] / "tools"
REPORT = """<testsuites><testsuite>
<testcase name="test_print[device_print_scalar-int8]">
  <failure message="assert False">E  assert False</failure></testcase>
<testcase name="test_print[device_print-int8]">
  <failure message="assert False">E  assert False</failure></testcase>
<testcase name="test_print[no_arg_print-int32]">
  <failure message="Segmentation fault">E  crashed</failure></testcase>
<testcase name="test_print[static_print-int32]"/>
<testcase name="test_print[other]"><skipped message="no"/></testcase>
</testsuite></testsuites>"""


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr(sys, "path", [str(TOOLS), *sys.path])
    return importlib.import_module("upstream_triton_tests")


def test_only_the_listed_failure_of_a_listed_test_is_expected(
    tool: ModuleType, tmp_path: Path
) -> None:
    report = tmp_path / "report.xml"
    report.write_text(REPORT)
    exceptions = tool.read_exceptions()
    outcome = tool.read_report("unit/language/test_subprocess.py", report, exceptions)
    counts = (outcome.passed, outcome.excepted, outcome.failed, outcome.skipped)
    assert counts == (1, 1, 2, 1)
    elsewhere = tool.read_report("unit/language/test_core.py", report, exceptions)
    assert (elsewhere.excepted, elsewhere.failed) == (0, 3)


def test_each_exception_says_why_and_names_a_file_that_is_run(tool: ModuleType) -> None:
    exceptions = tool.read_exceptions()
    assert exceptions
    for item in exceptions:
        assert item.file in tool.DEFAULT_FILES
        assert len(item.reason.split()) >= 5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[exception]]\nfile = 'a'\ntests = 'b'\nerror = 'c'\n", "no 'reason'"),
        ("[[exception]]\nfile = 'a'\ntests = '['\nerror = 'c'\nreason = 'd'\n", "unterminated"),
        ("[[exception]\n", "line 1"),
        ("", "no 'exception'"),
    ],
)
def test_a_damaged_table_is_refused(
    tool: ModuleType, tmp_path: Path, text: str, message: str
) -> None:
    table = tmp_path / "table.toml"
    table.write_text(text)
    with pytest.raises(tool.BadTable, match=message):
        tool.read_exceptions(table)
