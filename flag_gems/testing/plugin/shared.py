# SPDX-License-Identifier: Apache-2.0
"""What accuracy tests and benchmarks share: candidates put in place for a session, and judged used.

A session that runs under `--override` fails when a candidate was never called, because it then has
tested something else. All workers of pytest-xdist count together.
"""

from __future__ import annotations

import runpy
import sys
import traceback
from collections import Counter
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from . import ROOT
from .catalog import operator_names


@dataclass
class Session:
    """The overrides of a session and what became of them."""

    registry: Any = None
    """The DynamicOpOverride; None without overrides."""
    calls: Counter[str] = field(default_factory=Counter)
    """Calls in worker processes, by `flag_gems.<op>`."""
    finished: set[str] = field(default_factory=set)
    ran: bool = False
    """Whether any test ran, rather than being skipped."""
    judged: bool = True
    """Whether unused candidates matter; a mode that calls nothing turns it off."""
    complaints: list[str] = field(default_factory=list)

    def candidate_calls(self) -> int:
        """Calls of all candidates in this process so far."""
        return sum(self.registry.call_counts().values()) if self.registry is not None else 0


SESSION = pytest.StashKey[Session]()


def pytest_addoption(parser: pytest.Parser) -> None:
    path = ROOT / "flag_gems" / "override_options.py"
    runpy.run_path(str(path), run_name="flag_gems_override_options")["add_override_arguments"](
        parser
    )
    group = parser.getgroup("flag_gems")
    group.addoption(
        "--record",
        choices=("none", "log", "json"),
        default="none",
        help="Write a report at the session's end: one JSON document, or as a log one JSON object "
        "a line.",
    )
    group.addoption(
        "--output",
        metavar="PATH",
        default=None,
        help="Report file; by default named after the kind of report, in the current directory.",
    )
    group.addoption(
        "--reference-only",
        action="store_true",
        default=False,
        help="Benchmarks only: call each baseline once, no candidate, no timing.",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    option = config.option
    if option.reference_only and (option.override or option.override_config):
        raise pytest.UsageError("--reference-only runs no candidate: drop --override")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    for name in operator_names():
        config.addinivalue_line("markers", f"{name}: tests the operator {name}")
    config.addinivalue_line(
        "markers",
        "skip_native(vendors, reason): the baseline cannot run on these vendors (benchmarks)",
    )
    config.addinivalue_line(
        "markers",
        "falls_through(reason): the operator leaves these arguments to torch (accuracy tests)",
    )
    session = config.stash[SESSION] = Session()
    config.pluginmanager.register(_Watcher(session))


def load_overrides(config: pytest.Config) -> None:
    """Put the session's candidates in place, once; called when stale reports are out of the way.

    Raises:
        pytest.UsageError: a specification, a configuration or a candidate is at fault.
    """
    session = config.stash[SESSION]
    if session.registry is None and (config.option.override or config.option.override_config):
        session.registry = _apply_overrides(config)


def _apply_overrides(config: pytest.Config) -> Any:
    try:
        import flag_gems  # noqa: F401
    except RuntimeError as error:
        raise pytest.UsageError(f"flag_gems cannot be imported: {error}") from error
    from flag_gems.cli_override import apply_overrides_from_args
    from flag_gems.dynamic_registry import CandidateImportError, OverrideError

    option = config.option
    try:
        return apply_overrides_from_args(
            SimpleNamespace(override=option.override, override_config=option.override_config)
        )
    except CandidateImportError as error:
        cause = error.__cause__
        if cause is not None:
            lines = traceback.format_exception(type(cause), cause, _own(cause))
            sys.stderr.write("".join(lines))
        raise pytest.UsageError(str(error)) from error
    except OverrideError as error:
        raise pytest.UsageError(str(error)) from error


def _own(error: BaseException) -> Any:
    """The traceback of a candidate's import error from the candidate's first frame on."""
    frames = error.__traceback__
    while frames is not None and frames.tb_frame.f_globals.get("__name__", "").startswith(
        ("flag_gems.", "importlib", "_frozen_importlib")
    ):
        frames = frames.tb_next
    return frames


def pytest_report_header(config: pytest.Config) -> list[str]:
    return _descriptions(config) if not config.option.list_overrides else []


def _descriptions(config: pytest.Config) -> list[str]:
    registry = config.stash[SESSION].registry
    if registry is None:
        return ["override: none"] if config.option.list_overrides else []
    from flag_gems.cli_override import describe_overrides

    return describe_overrides(registry)


def pytest_sessionstart(session: pytest.Session) -> None:
    # Not in the header: -q drops that, and the option asks for it by name.
    if session.config.option.list_overrides and not is_worker(session.config):
        reporter = session.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None:
            for line in _descriptions(session.config):
                reporter.write_line(line)


def reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Why a phase failed or was skipped, without the traceback."""
    crash = getattr(report.longrepr, "reprcrash", None)
    if hasattr(report, "wasxfail"):
        text = f"expected failure: {report.wasxfail}"
    elif crash is not None:
        text = crash.message
    elif isinstance(report.longrepr, tuple):
        text = report.longrepr[2].removeprefix("Skipped: ")
    else:
        text = str(report.longrepr)
    when = getattr(report, "when", "call")
    return text if when in ("call", "collect") or report.skipped else f"in {when}: {text}"


def is_worker(config: pytest.Config) -> bool:
    """Whether this process is a worker of pytest-xdist."""
    return hasattr(config, "workerinput")


def is_distributed(config: pytest.Config) -> bool:
    """Whether this process only coordinates the workers of pytest-xdist."""
    return config.pluginmanager.has_plugin("dsession")


class _Watcher:
    """Notes which tests ran (the hook is given no configuration, hence an object a session)."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "teardown":
            self.session.finished.add(report.nodeid)
        if report.failed or (report.passed and report.when == "call"):
            self.session.ran = True


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: Any) -> None:
    output = getattr(node, "workeroutput", None) or {}
    node.config.stash[SESSION].calls.update(output.get("flaggems_calls", {}))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    config = session.config
    state = config.stash[SESSION]
    if state.registry is None or config.option.collectonly:
        return
    if is_worker(config):
        config.workeroutput["flaggems_calls"] = state.registry.call_counts()  # type: ignore[attr-defined]
        return
    _judge_use(state)
    if not is_distributed(config) and session.exitstatus == pytest.ExitCode.OK:
        missing = session.testscollected - len(state.finished)
        if missing > 0:
            # pytest.exit(returncode=0) inside a candidate ends the session with success.
            state.complaints.append(f"{missing} of {session.testscollected} tests did not run")
    if state.complaints and session.exitstatus in (
        pytest.ExitCode.OK,
        pytest.ExitCode.NO_TESTS_COLLECTED,
    ):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _judge_use(state: Session) -> None:
    if not (state.ran and state.judged):
        return
    for name, calls in state.registry.call_counts().items():
        if calls + state.calls[name] == 0:
            origin = state.registry.origins()[name]
            state.complaints.append(
                f"override never called: {name} ({origin}); check the operator's name, and that "
                "the tests reach the candidate"
            )


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    for complaint in config.stash[SESSION].complaints:
        terminalreporter.write_line(f"ERROR: {complaint}", red=True)


def pytest_unconfigure(config: pytest.Config) -> None:
    session = config.stash.get(SESSION, None)
    if session is not None and session.registry is not None:
        session.registry.restore_all(allow_unused=True)
