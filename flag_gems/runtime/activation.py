# SPDX-License-Identifier: Apache-2.0
"""Switches torch over to the Gems operators, for the process or for a block."""

from __future__ import annotations

import logging
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType

import torch

from flag_gems.catalog import OPERATORS
from flag_gems.runtime.registrar import Entry, GeneralOpRegistrar

_log = logging.getLogger("flag_gems.calls")

Names = Iterable[str] | str | None
"""Public operator names, function names or ATen keys. A public name stands for all of its keys."""


def _keys_of(names: Names, argument: str) -> set[str]:
    if names is None:
        return set()
    keys: set[str] = set()
    for name in (names,) if isinstance(names, str) else names:
        owned = [pair for operator in OPERATORS if operator.name == name for pair in operator.aten]
        every = [pair for operator in OPERATORS for pair in operator.aten]
        found = owned or [pair for pair in every if name in pair]
        if not found and not any(name in operator.functions for operator in OPERATORS):
            raise ValueError(
                f"{argument}: {name!r} is neither an operator of flag_gems nor an ATen key that it "
                "registers; `python -m flag_gems.catalog` lists the operators"
            )
        keys.update(key for key, _ in found)
    return keys


def select(include: Names = None, exclude: Names = None) -> tuple[Entry, ...]:
    """The part of ``_FULL_CONFIG`` that is in ``include`` (None: all) and not in ``exclude``.

    Raises:
        ValueError: a name is unknown.
    """
    wanted = None if include is None else _keys_of(include, "include")
    unwanted = _keys_of(exclude, "exclude")
    full: tuple[Entry, ...] = sys.modules["flag_gems"]._FULL_CONFIG
    return tuple(
        entry
        for entry in full
        if (wanted is None or entry[0] in wanted) and entry[0] not in unwanted
    )


class _Calls:
    """Counts dispatched calls and, where asked, records them in a file or the log."""

    def __init__(self, record: bool, once: bool, path: str | Path | None) -> None:
        self.counter: Counter[str] = Counter()
        self._record = record
        self._once = once
        self._path = Path(path) if path is not None else None
        if record and self._path is not None:
            self._path.write_text("", encoding="utf-8")

    def __call__(self, key: str) -> None:
        self.counter[key] += 1
        if not self._record or (self._once and self.counter[key] > 1):
            return
        line = f"aten::{key}"
        if self._path is None:
            _log.info(line)
        else:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(line + "\n")


class use_gems:
    """Runs torch's operators on Gems kernels in a ``with`` block; the innermost block wins.

    Args:
        include: only these operators; None means all.
        exclude: all but these.
        record: write each dispatched call to ``path``, or to the logger ``flag_gems.calls`` without
            one.
        once: record only the first call of each ATen key.
        path: file for ``record``, written anew.

    Raises:
        ValueError: an unknown name, or ``once``/``path`` without ``record``.

    ``calls`` counts dispatched calls by ATen key: an operator that is not registered runs natively,
    and zero is how one sees it.
    """

    def __init__(
        self,
        include: Names = None,
        exclude: Names = None,
        record: bool = False,
        once: bool = False,
        path: str | Path | None = None,
    ) -> None:
        if (once or path is not None) and not record:
            raise ValueError("once and path say how to record: pass record=True with them")
        self._entries = select(include, exclude)
        self._observe = _Calls(record, once, path)
        self._active: list[GeneralOpRegistrar] = []

    @property
    def calls(self) -> Counter[str]:
        return self._observe.counter

    def __enter__(self) -> use_gems:
        self._active.append(GeneralOpRegistrar(self._entries, observer=self._observe).register())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._active.pop().unregister()


_enabled: GeneralOpRegistrar | None = None


def _replace(entries: tuple[Entry, ...], lib: torch.library.Library | None) -> GeneralOpRegistrar:
    global _enabled
    if lib is not None:
        return GeneralOpRegistrar(entries, lib).register()
    # The new registrations first: should they fail, the former ones are still in place.
    replacement = GeneralOpRegistrar(entries).register()
    disable()
    _enabled = replacement
    return _enabled


def enable(
    lib: torch.library.Library | None = None, unused: Names = None, *, exclude: Names = None
) -> GeneralOpRegistrar:
    """Registers all operators for the process, less those named by ``unused`` or ``exclude``.

    Without ``lib`` it replaces what an earlier enable() or only_enable() registered, so that a
    second call picks up new overrides. With ``lib`` the registrations live as long as the caller's
    library.

    Raises:
        ValueError: an unknown name, or an operator that is not callable now; what was registered
            before then stays.
    """
    unwanted = [
        name
        for names in (unused, exclude)
        if names is not None
        for name in ((names,) if isinstance(names, str) else names)
    ]
    return _replace(select(None, unwanted), lib)


def only_enable(lib: torch.library.Library | None = None, *, include: Names) -> GeneralOpRegistrar:
    """Registers the operators of ``include`` for the process, and no other; see :func:`enable`."""
    if include is None:
        raise ValueError("only_enable needs include: the operators to register")
    return _replace(select(include), lib)


def disable() -> None:
    """Takes back what enable() or only_enable() registered without a library of the caller's."""
    global _enabled
    if _enabled is not None:
        _enabled.unregister()
        _enabled = None
