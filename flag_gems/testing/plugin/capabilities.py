# SPDX-License-Identifier: Apache-2.0
"""Skips what the device cannot do, asked when the test is about to run, and sums up what it was.

A test needs what its mark `requires_capabilities(name, ...)` says, and the dtypes among its
parameters. A capability that the device's provider does not declare fails the test.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Generator, Iterator
from importlib.util import module_from_spec, spec_from_file_location
from typing import Any

import pytest

from . import ROOT
from .classification import refuse, unfit

_NAME = "flag_gems.runtime.capability"
_UNNAMED_BACKEND = "privateuseone"

OF_DTYPES = {
    "torch.bfloat16": "dtype.bf16",
    "torch.float64": "dtype.fp64",
    "torch.int64": "dtype.int64",
    "torch.float8_e4m3fn": "dtype.fp8",
    "torch.float8_e5m2": "dtype.fp8",
}
"""Dtypes that some device lacks, as they print, and the capability of having them."""

SKIPPED = pytest.StashKey[Counter[tuple[str, str]]]()
_BACKEND = pytest.StashKey[str]()
_LACKING = pytest.StashKey[list[str]]()


def _capability() -> Any:
    if _NAME not in sys.modules:
        # By path, for an ordinary import would import flag_gems, and torch with it.
        path = ROOT.joinpath(*_NAME.split(".")).with_suffix(".py")
        spec = spec_from_file_location(_NAME, path)
        assert spec is not None
        assert spec.loader is not None
        sys.modules[_NAME] = module_from_spec(spec)
        spec.loader.exec_module(sys.modules[_NAME])
    return sys.modules[_NAME]


def required(item: pytest.Item) -> list[str]:
    """The capabilities that a test needs: of its marks, then of its parameters.

    Raises:
        ValueError: a mark names none, or one that does not exist.
    """
    known = _capability().KNOWN
    names: list[str] = []
    for mark in item.iter_markers("requires_capabilities"):
        unknown = [name for name in mark.args if name not in known]
        if unknown or not mark.args or mark.kwargs:
            raise ValueError(
                f"{item.nodeid}: requires_capabilities takes names of {', '.join(known)}"
                + (f", not {unknown[0]!r}" if unknown else "")
            )
        names += mark.args
    parameters = getattr(getattr(item, "callspec", None), "params", {}).values()
    names += [OF_DTYPES[text] for text in map(str, _flat(parameters)) if text in OF_DTYPES]
    return list(dict.fromkeys(names))


def _flat(values: Any) -> Iterator[Any]:
    for value in values:
        if isinstance(value, (tuple, list)):
            yield from _flat(value)
        else:
            yield value


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "requires_capabilities(name, ...): what of flag_gems.runtime.capability the device needs",
    )
    config.stash[SKIPPED] = Counter()
    config.pluginmanager.register(_Counter(config.stash[SKIPPED]))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    with _capability().too_early("collection"):
        return (yield)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    try:
        for item in items:
            required(item)
    except ValueError as error:
        refuse(config, items, str(error))


def _notice_late_backend(config: pytest.Config) -> None:
    """Moves flag_gems to a back end that has registered since the last test."""
    torch, library = sys.modules.get("torch"), sys.modules.get("flag_gems")
    if torch is None or library is None:
        return
    name = torch._C._get_privateuse1_backend_name()
    if name != config.stash.get(_BACKEND, _UNNAMED_BACKEND):
        config.stash[_BACKEND] = name
        library.runtime.redetect()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    _notice_late_backend(item.config)
    reason = unfit(item)
    if reason is not None:
        pytest.skip(reason)
    names = required(item)
    if not names:
        return
    import flag_gems

    vendor = flag_gems.runtime.device.vendor
    for name in names:
        if not flag_gems.runtime.capability.supports(name, vendor):
            provider = flag_gems.runtime.capability.provider_of(vendor)
            item.stash[_LACKING] = [name, provider]
            pytest.skip(f"{provider} says that {vendor.device} lacks {name}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.skipped and _LACKING in item.stash:
        # An extra attribute travels with the report from a worker.
        report.flaggems_lacking = item.stash[_LACKING]  # type: ignore[attr-defined]
    return report


class _Counter:
    """Counts in the process that prints, whichever worker ran the test."""

    def __init__(self, skipped: Counter[tuple[str, str]]) -> None:
        self.skipped = skipped

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        lacking = getattr(report, "flaggems_lacking", None)
        if lacking is not None:
            self.skipped[tuple(lacking)] += 1


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    skipped = config.stash[SKIPPED]
    if skipped:
        terminalreporter.section("skipped for want of a capability")
        for (name, provider), number in sorted(skipped.items()):
            terminalreporter.write_line(f"{number:6d}  {name}  (no, says {provider})")
