# SPDX-License-Identifier: Apache-2.0
"""Options, modes and reports of the benchmarks.

A session times baselines against operators, or does one of: --list-cases, --preflight-only,
--profile-only, --reference-only, --query. What each does for a case stands in
`flag_gems.testing.benchmark`; here are the rules that hold for a session as a whole.
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import AbstractContextManager
from typing import Any

import pytest

from . import ROOT, shared
from .benchmark_options import add_options, dest, refuse_combinations
from .benchmark_report import FILE_NAMES, build, problems
from .catalog import operator_marks
from .parallel import run_parallel
from .report import ReportFile, encode, record_format
from .session import ACTIVITIES, METRICS, BenchmarkSession, Settings, begin
from .skip_native import native_skip_reason

STATE = pytest.StashKey[BenchmarkSession]()
COMPLAINTS = pytest.StashKey[list[str]]()


class ProfileHooks:
    """Hooks that an external profiler implements."""

    @pytest.hookspec(firstresult=True)
    def pytest_flaggems_profile_scope(
        self, backend: str, case_id: str
    ) -> AbstractContextManager[Any] | None:
        """Return a context that collects while it is entered.

        Args:
            backend: the vendor's name, `flag_gems.vendor_name`.
            case_id: the case that is being replayed.
        """


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    pluginmanager.add_hookspecs(ProfileHooks)


def pytest_addoption(parser: pytest.Parser) -> None:
    add_options(parser.getgroup("flag_gems benchmark"))


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> int | None:
    """Refuse what cannot be combined, before anything is loaded; split the session up if asked."""
    refuse_combinations(config.option)
    if config.option.parallel and not config.option.help:
        return run_parallel(config)
    return None


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    option = config.option
    chosen = [name for name, flag in ACTIVITIES.items() if getattr(option, dest(flag))]
    activity = chosen[0] if chosen else "time"
    settings = Settings(
        activity=activity,
        mode=option.mode,
        level=option.level or ("core" if activity == "reference" else "comprehensive"),
        warmup_ms=option.warmup,
        iter_ms=option.iter,
        dtypes=tuple(option.dtypes) if option.dtypes else None,
        metrics=tuple(option.metrics) if option.metrics else METRICS,
        shape_file=option.shape_file,
        case_ids=tuple(option.case_id) if option.case_id else None,
        profile_warmup=option.profile_warmup,
        profile_iterations=option.profile_iterations,
    )
    state = config.stash[STATE] = BenchmarkSession(settings, config)
    config.stash[COMPLAINTS] = []
    config.pluginmanager.register(_CollectionWatcher(state))
    begin(state)
    if shared.is_worker(config):
        return
    if _writes_report(config):
        _report_file(config).clear()
    if activity in ("list", "query"):
        # Nothing is called, so no candidate can be unused.
        config.stash[shared.SESSION].judged = False
    if activity == "list" and not option.output:
        _talk_to_stderr(config.pluginmanager, config)
    shared.load_overrides(config)


class _CollectionWatcher:
    """Records files that cannot be collected: their cases are missing from everything else."""

    def __init__(self, state: BenchmarkSession) -> None:
        self.state = state

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if not (report.failed and report.nodeid.startswith("benchmark/")):
            return
        reason = f"in collect: {shared.reason(report)}"
        if self.state.settings.activity == "reference":
            self.state.reference.append(
                {
                    "nodeid": report.nodeid,
                    "operator": None,
                    "status": "FAILED",
                    "reason": reason,
                    "pytest_phase": "collect",
                }
            )
        elif self.state.settings.activity == "time":
            entry = {"result": "failed", "reason": reason, "details": []}
            self.state.measured[report.nodeid] = entry


def _talk_to_stderr(manager: pytest.PytestPluginManager, config: pytest.Config) -> None:
    """Leave standard output to the case list alone."""
    if manager.has_plugin("terminalreporter"):
        manager.unregister(name="terminalreporter")
        manager.register(pytest.TerminalReporter(config, sys.stderr), "terminalreporter")


def _has_accuracy(config: pytest.Config) -> bool:
    """Whether the accuracy tests' plug-in is there, too, and writes the report."""
    return config.pluginmanager.has_plugin(f"{__package__}.accuracy")


def _writes_report(config: pytest.Config) -> bool:
    return (
        record_format(config) != "none"
        and config.stash[STATE].settings.activity in FILE_NAMES
        and not config.option.collectonly
    )


def _report_file(config: pytest.Config) -> ReportFile:
    suffix = "json" if record_format(config) == "json" else "log"
    name = FILE_NAMES[config.stash[STATE].settings.activity]
    return ReportFile(config.option.output or f"{name}.{suffix}")


def is_benchmark(item: pytest.Item) -> bool:
    """Whether the test lies under benchmark/."""
    return (ROOT / "benchmark") in item.path.parents


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    benchmarks = [item for item in items if is_benchmark(item)]
    settings = config.stash[STATE].settings
    if len(benchmarks) < len(items):
        if settings.activity != "time":
            flag = ACTIVITIES[settings.activity]
            raise pytest.UsageError(f"{flag} is for benchmark/ only: run other tests without it")
        if benchmarks and record_format(config) != "none":
            raise pytest.UsageError("tests/ and benchmark/ have different reports: record one")
    if benchmarks and settings.mode == "cudagraph":
        import flag_gems

        if flag_gems.device != "cuda":
            raise pytest.UsageError(
                f"--mode cudagraph needs a CUDA device; the vendor here is {flag_gems.vendor_name}"
            )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    if not is_benchmark(item):
        return (yield)
    state = item.config.stash[STATE]
    state.nodeid = f"{item.path.relative_to(ROOT).as_posix()}::{item.nodeid.split('::', 1)[1]}"
    state.skip_native = native_skip_reason(item)
    result = yield
    if state.settings.activity != "time" and state.nodeid not in state.served:
        refuse_without_cases(state, (operator_marks(item) or [item.name])[0])
    return result


def refuse_without_cases(state: BenchmarkSession, operator: str) -> None:
    """Fail the running test, because it cannot say which cases it would run."""
    state.served.add(state.nodeid)
    reason = "this benchmark does not enumerate its cases"
    if state.settings.activity == "reference":
        record = {"nodeid": state.nodeid, "operator": operator, "status": "UNSUPPORTED"}
        state.reference.append({**record, "reason": reason})
    flag = ACTIVITIES[state.settings.activity]
    pytest.fail(f"{flag}: {state.nodeid}: {reason}, and is not run in full instead", pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if is_benchmark(item) and (report.when == "call" or not report.passed):
        _note_phase(item.config.stash[STATE], item, report)
    return report


def _note_phase(state: BenchmarkSession, item: pytest.Item, report: pytest.TestReport) -> None:
    """Record what befell a test as a whole, where its cases do not say it."""
    operator = (operator_marks(item) or [item.name])[0]
    nodeid = f"{item.path.relative_to(ROOT).as_posix()}::{item.nodeid.split('::', 1)[1]}"
    reason = None if report.passed else shared.reason(report)
    if state.settings.activity == "time":
        entry = state.measured.setdefault(operator, {"result": "skipped", "reason": None})
        rank = ("skipped", "passed", "failed")
        if rank.index(report.outcome) >= rank.index(entry["result"]):
            entry.update(result=report.outcome, reason=reason)
        entry.setdefault("details", [])
    elif state.settings.activity == "reference" and not report.passed:
        known = {record["status"] for record in state.reference if record["nodeid"] == nodeid}
        if not known & {"FAILED", "SKIP", "UNSUPPORTED"}:
            status = "SKIP" if report.skipped else "FAILED"
            record = {"nodeid": nodeid, "operator": operator, "status": status}
            state.reference.append({**record, "reason": reason, "pytest_phase": report.when})


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    config = session.config
    if config.option.collectonly or shared.is_worker(config):
        return
    state = config.stash[STATE]
    complaints = config.stash[COMPLAINTS]
    complaints += problems(state)
    quiet = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
    if complaints and session.exitstatus in quiet:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    if state.settings.activity == "list" and session.exitstatus != pytest.ExitCode.OK:
        return
    document = build(state)
    if not document and _has_accuracy(config):
        return
    if _writes_report(config):
        if record_format(config) == "json" or state.settings.activity == "list":
            _report_file(config).write(document)
        else:
            _report_file(config).write_lines(_lines(document))
    elif state.settings.activity == "list":
        sys.stdout.write(encode(document))
        sys.stdout.flush()


def _lines(document: dict[str, Any]) -> list[Any]:
    if "records" in document:
        return list(document["records"])
    return [{"operator": name, **entry} for name, entry in document.items()]


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    for complaint in config.stash[COMPLAINTS]:
        terminalreporter.write_line(f"ERROR: {complaint}", red=True)
