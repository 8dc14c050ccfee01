# SPDX-License-Identifier: Apache-2.0
"""Options and report of the accuracy tests: what each case found, which called a candidate.

The report is `{nodeid: {params, result, opname, reason[, candidate_calls]}}`; `candidate_calls` is
there under `--override` and counts the calls during the case's call phase, in whichever process of
pytest-xdist it ran.
"""

from __future__ import annotations

import json
from collections.abc import Generator
from typing import Any

import pytest

from . import ROOT, shared
from .catalog import operator_marks
from .options import options
from .report import ReportFile, encode, record_format
from .use_of_gems import required

RECORDS = pytest.StashKey[dict[str, dict[str, Any]]]()
CALLS = pytest.StashKey[int]()
DEFAULT_OUTPUT = "correctness_result"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("flag_gems accuracy")
    group.addoption(
        "--ref",
        choices=("device", "cpu"),
        default="device",
        help="Where references are computed.",
    )
    group.addoption(
        "--quick",
        action="store_true",
        default=False,
        help="Run fewer shapes and dtypes.",
    )


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    options.quick = config.option.quick
    options.reference = config.option.ref
    records = config.stash[RECORDS] = {}
    if not shared.is_worker(config):
        config.pluginmanager.register(_Recorder(records))
        if _records(config):
            _report_file(config).clear()
    shared.load_overrides(config)


def _records(config: pytest.Config) -> bool:
    return record_format(config) != "none" and not config.option.collectonly


def _has_benchmarks(config: pytest.Config) -> bool:
    """Whether the benchmarks' plug-in is there, too, and writes the report."""
    return config.pluginmanager.has_plugin(f"{__package__}.benchmark")


def _report_file(config: pytest.Config) -> ReportFile:
    suffix = "json" if record_format(config) == "json" else "log"
    return ReportFile(config.option.output or f"{DEFAULT_OUTPUT}.{suffix}")


def is_accuracy(item: pytest.Item) -> bool:
    """Whether the test lies under tests/."""
    return (ROOT / "tests") in item.path.parents


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.option.reference_only and any(is_accuracy(item) for item in items):
        raise pytest.UsageError(
            "--reference-only is for benchmark/ only: run tests/ without it, in another session"
        )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    session = item.config.stash[shared.SESSION]
    before = session.candidate_calls()
    with required(item, unless=session.registry is not None or not is_accuracy(item)):
        try:
            return (yield)
        finally:
            item.stash[CALLS] = session.candidate_calls() - before


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if not is_accuracy(item):
        return report
    calls = item.stash.get(CALLS, 0)
    if report.when == "call" and report.skipped and calls and not _expects_failure(item):
        # A test of an operator decides whether it applies before it calls the operator.
        why = getattr(report, "wasxfail", None) or (call.excinfo and call.excinfo.value)
        report.outcome = "failed"
        report.longrepr = f"skipped after {calls} candidate calls: {why}"
        if hasattr(report, "wasxfail"):
            del report.wasxfail
    # An extra attribute travels with the report from a worker; as text, because the channel takes
    # neither all integers nor subclasses of its types.
    described = {
        "params": getattr(getattr(item, "callspec", None), "params", {}),
        "opname": operator_marks(item),
        "candidate_calls": calls if item.config.stash[shared.SESSION].registry else None,
    }
    report.flaggems = encode(described)  # type: ignore[attr-defined]
    return report


def _expects_failure(item: pytest.Item) -> bool:
    return item.get_closest_marker("xfail") is not None


class _Recorder:
    """Turns the phases of each case into one record."""

    def __init__(self, records: dict[str, dict[str, Any]]) -> None:
        self.records = records

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed and report.nodeid.startswith("tests/"):
            reason = f"in collect: {shared.reason(report)}"
            self.records[report.nodeid] = {
                "params": {},
                "result": "failed",
                "opname": [],
                "reason": reason,
            }

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        text = getattr(report, "flaggems", None)
        if text is None or (report.when != "call" and report.passed):
            return
        described = json.loads(text)
        record = {
            "params": described["params"],
            "result": report.outcome,
            "opname": described["opname"],
            "reason": None if report.passed else shared.reason(report),
        }
        if described["candidate_calls"] is not None:
            record["candidate_calls"] = described["candidate_calls"]
        self.records[report.nodeid] = record


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    config = session.config
    if shared.is_worker(config) or not _records(config):
        return
    records = config.stash[RECORDS]
    if not records and _has_benchmarks(config):
        return
    if record_format(config) == "json":
        _report_file(config).write(records)
    else:
        _report_file(config).write_lines({"nodeid": key, **value} for key, value in records.items())
