# SPDX-License-Identifier: Apache-2.0
"""An accuracy test must have tested the library: torch held against torch always agrees.

A test that carries an operator's mark fails unless the call ledger shows that this operator
answered by itself (or that torch refused the arguments), and never by torch's own kernel. Tests of
what a kernel can't do say so with ``@pytest.mark.falls_through(reason)``.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from .catalog import ledger_names, operator_marks


def _calls() -> Counter[Any]:
    """The ledger so far; empty while nothing has imported the library."""
    ledger = sys.modules.get("flag_gems.runtime.ledger")
    return ledger.calls() if ledger is not None else Counter()


@contextmanager
def required(item: pytest.Item, unless: bool) -> Iterator[None]:
    """Fails the test ``item``, whose body this encloses, for the reasons above."""
    operators = operator_marks(item)
    if unless or not operators:
        yield
        return
    before = _calls()
    yield
    names = ledger_names(operators)
    made = [call for call in _calls() - before if call.op in names]
    native = [f"{call.op}: {call.reason}" for call in made if call.how == "native"]
    listed = ", ".join(operators)
    if item.get_closest_marker("falls_through") is not None:
        if not native:
            pytest.fail(f"marked falls_through, but no call of {listed} went to torch", False)
    elif native:
        pytest.fail(f"{listed} was tested on torch's own kernel ({'; '.join(native)})", False)
    elif not made:
        pytest.fail(f"the test passed without a call of {listed} in the ledger", False)
