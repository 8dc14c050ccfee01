# SPDX-License-Identifier: Apache-2.0
"""Binds ATen keys to what ``flag_gems.<function>`` is when it registers.

The configuration holds the functions that were there at import. Registering those would ignore an
override, and guessing an attribute from the key would confuse ``_softmax`` with ``_softmax.out``.
The name of the originally bound function says which attribute is meant.
"""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

import torch

from flag_gems.runtime import device, native, signatures

Entry = tuple[Any, ...]
"""(ATen key, function[, condition]): where condition() is false the key is left alone."""

Observer = Callable[[str], None]
"""Called with the ATen key before each dispatched call."""


class GeneralOpRegistrar:
    """One set of registrations on this device's dispatch key.

    ``config`` is a part of ``flag_gems._FULL_CONFIG``, by default all of it. Attributes of
    ``flag_gems`` are resolved in :meth:`register`, not later: an override made afterwards is used
    after a new registration. A ``lib`` that is passed in stays the caller's: :meth:`unregister`
    doesn't destroy it.
    """

    def __init__(
        self,
        config: Iterable[Entry] | None = None,
        lib: torch.library.Library | None = None,
        *,
        observer: Observer | None = None,
    ) -> None:
        self._gems: ModuleType = sys.modules["flag_gems"]
        self._config = tuple(self._gems._FULL_CONFIG if config is None else config)
        self._lib = lib
        self._owns_lib = lib is None
        self._observer = observer
        self._keys: list[str] = []

    @property
    def keys(self) -> tuple[str, ...]:
        """ATen keys that are registered now, in the order of registration."""
        return tuple(self._keys)

    def resolve(self, key: str) -> Callable[..., Any]:
        """The live attribute of ``flag_gems`` for an ATen key.

        Raises:
            ValueError: ``_FULL_CONFIG`` lacks the key, or the attribute is not callable now.
        """
        for entry in self._gems._FULL_CONFIG:
            if entry[0] == key:
                name = entry[1].__name__
                live = getattr(self._gems, name, None)
                if not callable(live):
                    raise ValueError(f"flag_gems.{name}, needed for aten::{key}, is not callable")
                return live
        raise ValueError(
            f"aten::{key} is not in flag_gems._FULL_CONFIG: only operators listed there can be "
            "registered"
        )

    def register(self) -> GeneralOpRegistrar:
        """Registers every entry whose condition holds; on an error none stays registered.

        Raises:
            ValueError: an entry's key is not in ``flag_gems._FULL_CONFIG``.
            RuntimeError: these registrations are already in place.
        """
        if self._keys:
            raise RuntimeError("these operators are already registered: call unregister() first")
        selected = [entry[0] for entry in self._config if len(entry) < 3 or entry[2]()]
        functions = {key: self.resolve(key) for key in selected}
        device.settled = True
        if self._lib is None:
            self._lib = torch.library.Library("aten", "IMPL")
        try:
            for key, function in functions.items():
                native.hold(key)
                self._keys.append(key)
                self._bind(key, function)
        except BaseException:
            self.unregister()
            raise
        return self

    def unregister(self) -> None:
        """Gives the keys back to whatever was registered before."""
        if self._owns_lib and self._lib is not None:
            self._lib._destroy()
            self._lib = None
        if self._owns_lib:
            for key in self._keys:
                native.release(key)
        self._keys.clear()

    def _bind(self, key: str, function: Callable[..., Any]) -> None:
        assert self._lib is not None
        bound = native.guard(key, signatures.for_aten(key, function), self._observer)
        with warnings.catch_warnings():
            # Replacing torch's kernel is what was asked for; torch warns of it once a process.
            warnings.filterwarnings("ignore", message=r"(?s).*[Oo]verrid")
            self._lib.impl(key, bound, device.dispatch_key, **_ALLOW_OVERRIDE)


# Older releases know no allow_override and need none.
_ALLOW_OVERRIDE: dict[str, Any] = (
    {"allow_override": True}
    if "allow_override" in inspect.signature(torch.library.Library.impl).parameters
    else {}
)
