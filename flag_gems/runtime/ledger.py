# SPDX-License-Identifier: Apache-2.0
"""Which operators ran as Gems kernels and which went to torch, with the reason.

A library that quietly falls back to torch looks right and is not used; so does a test of it. Each
public function notes here how it answered:

    before = flag_gems.runtime.calls()
    model(x)
    for call, times in (flag_gems.runtime.calls() - before).items():
        print(times, *call)     # 12 add.Tensor gems
"""

from __future__ import annotations

import threading
from collections import Counter
from typing import Literal, NamedTuple, get_args

How = Literal["gems", "native", "refused"]
"""``gems``: answered by the library itself. ``native``: torch's own kernel ran instead.
``refused``: the arguments went to torch, which raised its error for them."""

_HOWS = frozenset(get_args(How))


class Call(NamedTuple):
    """One kind of call."""

    op: str
    """ATen key (``add.Tensor``), or the public name of an operator that ATen lacks."""
    how: How
    reason: str
    """Why it was not a plain kernel call; empty for one that was."""


_counts: dict[tuple[str, How, str], int] = {}
_lock = threading.Lock()


def record(op: str, how: How, reason: str = "") -> None:
    """Counts one call of ``op``; exact under threads.

    Raises:
        ValueError: ``how`` is unknown, or torch was called without a reason.
    """
    if how not in _HOWS or (how != "gems" and not reason):
        raise ValueError(f"{op}: {how!r} with reason {reason!r} is no entry of the ledger")
    key = (op, how, reason)
    with _lock:
        _counts[key] = _counts.get(key, 0) + 1


def calls() -> Counter[Call]:
    """How often each kind of call has happened in this process so far; a copy."""
    with _lock:
        return Counter({Call(*key): count for key, count in _counts.items()})
