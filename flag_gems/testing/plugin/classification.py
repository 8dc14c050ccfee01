# SPDX-License-Identifier: Apache-2.0
"""Which hardware a test is about, and `--hw-classification`, which selects tests by it.

The names, the values and the class attribute are those of `HardwareClassification` in PyTorch's
test suite. A module may carry the attribute as well, for tests that are functions; a class's own or
inherited label comes first, and an operator's mark stands for ACCELERATOR. Unlike PyTorch's, a
selection that leaves no test is refused.
"""

from __future__ import annotations

import sys
from collections import Counter
from enum import Enum
from typing import Any

import pytest

from .catalog import operator_marks
from .shared import is_worker

ATTRIBUTE = "hw_classification"


class HardwareClassification(Enum):
    """What a test needs in order to prove what it is meant to prove."""

    GENERIC = "generic"
    """No device at all: it passes or fails alike on every machine."""
    ACCELERATOR = "accelerator"
    """Whichever device the process has; a back end that registers joins without being named."""
    CPU = "cpu"
    CUDA = "cuda"
    MPS = "mps"
    XPU = "xpu"

    @property
    def is_one_device(self) -> bool:
        """Whether the value is the device type that the test is about."""
        return self not in (HardwareClassification.GENERIC, HardwareClassification.ACCELERATOR)


def classification_of(*owners: Any) -> HardwareClassification | None:
    """The label of the first owner (class, then module) that has one; None when none has.

    Raises:
        TypeError: a label is not a HardwareClassification, for example a string.
    """
    for owner in owners:
        label = getattr(owner, ATTRIBUTE, None)
        if label is None:
            continue
        if not isinstance(label, HardwareClassification):
            raise TypeError(
                f"{getattr(owner, '__qualname__', owner.__name__)}.{ATTRIBUTE} must be a "
                f"HardwareClassification, not {type(label).__name__} {label!r}"
            )
        return label
    return None


def item_classification(item: pytest.Item) -> HardwareClassification | None:
    """The label of a collected test; see :func:`classification_of`.

    A test with an operator's mark is of class ACCELERATOR where nothing else is said: it calls the
    operator on the device that the process has.
    """
    label = classification_of(getattr(item, "cls", None), getattr(item, "module", None))
    if label is None and operator_marks(item):
        return HardwareClassification.ACCELERATOR
    return label


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("flag_gems").addoption(
        "--hw-classification",
        nargs="+",
        action="extend",
        type=str.upper,
        choices=tuple(HardwareClassification.__members__),
        metavar="CLASS",
        help="Run only tests of these hardware classes (one or more of "
        f"{', '.join(HardwareClassification.__members__)}); tests without a class are left out.",
    )


_REFUSED = "flaggems_refused"
REFUSALS = pytest.StashKey[set[str]]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[REFUSALS] = set()


def refuse(config: pytest.Config, items: list[pytest.Item], message: str) -> None:
    """Ends the session as wrongly used; a worker of pytest-xdist tells the process that prints."""
    if not is_worker(config):
        raise pytest.UsageError(message)
    config.workeroutput[_REFUSED] = message  # type: ignore[attr-defined]
    items.clear()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: Any) -> None:
    output = getattr(node, "workeroutput", None) or {}
    if _REFUSED in output:
        node.config.stash[REFUSALS].add(output[_REFUSED])


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    if session.config.stash[REFUSALS]:
        session.exitstatus = pytest.ExitCode.USAGE_ERROR


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    refusals = config.stash[REFUSALS]
    for message in sorted(refusals):
        terminalreporter.write_line(f"ERROR: {message}", red=True)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    try:
        labels = [item_classification(item) for item in items]
    except TypeError as error:
        return refuse(config, items, str(error))
    names = config.option.hw_classification
    if not names:
        return None
    wanted = {HardwareClassification[name] for name in names}
    kept = [item for item, label in zip(items, labels, strict=True) if label in wanted]
    found = Counter(label.name if label else "no class" for label in labels)
    if not kept:
        counts = ", ".join(f"{number} of {name}" for name, number in sorted(found.items()))
        return refuse(
            config,
            items,
            f"--hw-classification {' '.join(names)} matches none of {len(items)} collected tests "
            f"({counts or 'nothing was collected'})",
        )
    left = [item for item, label in zip(items, labels, strict=True) if label not in wanted]
    if left:
        config.hook.pytest_deselected(items=left)
    items[:] = kept
    return None


def unfit(item: pytest.Item) -> str | None:
    """Why a test of one device's class cannot run on the device that this process has."""
    label = item_classification(item)
    library = sys.modules.get("flag_gems")
    if label is None or not label.is_one_device or library is None:
        return None
    if label.value == library.device:
        return None
    return f"a test of class {label.name}, and the device is {library.device}"
