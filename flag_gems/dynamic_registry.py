# SPDX-License-Identifier: Apache-2.0
"""Replace `flag_gems.<operator>` while a process runs, and put the original back afterwards.

A kernel under development lives in a file of its own. This module binds it to the public attribute
that tests, benchmarks and the ATen registrar look up, so that no source file has to be edited:

    with DynamicOpOverride() as registry:
        registry.override_from_file("softmax", "./softmax_v2.py", "my_softmax")
        flag_gems.softmax(x)            # runs my_softmax

Overrides act on the one `flag_gems` module object of the process, so they are seen by every thread.
The module imports nothing heavy and resolves `flag_gems` only when it is used: it also works while
`flag_gems` is a bare package without its kernels.
"""

from __future__ import annotations

import functools
import importlib
import os
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType, TracebackType
from typing import Any

from flag_gems import catalog
from flag_gems.candidate import (
    CandidateFileNotFoundError,
    CandidateFunctionNotFoundError,
    CandidateImportError,
    CandidateNotCallableError,
    OverrideError,
    load_candidate,
)

__all__ = [
    "CandidateFileNotFoundError",
    "CandidateFunctionNotFoundError",
    "CandidateImportError",
    "CandidateNotCallableError",
    "DynamicOpOverride",
    "InvalidOperatorNameError",
    "OverrideError",
    "RestoreError",
    "UnusedOverrideError",
    "load_candidate",
]

PACKAGE = "flag_gems"

FileTarget = str | os.PathLike[str] | tuple[str | os.PathLike[str], str | None]


class InvalidOperatorNameError(OverrideError, ValueError):
    """The name is that of no operator of `flag_gems`, and could not become one."""


class UnusedOverrideError(OverrideError, AssertionError):
    """A candidate that was loaded from a file was never called."""


class RestoreError(OverrideError, RuntimeError):
    """Some originals could not be put back; `__cause__` is the first reason."""


class _Absent:
    """Stands for an attribute that the module does not have (None is a value like any other)."""


_ABSENT = _Absent()


@dataclass(eq=False)
class _Layer:
    """One replacement of one attribute, and what it found there."""

    module: ModuleType
    name: str
    value: Any
    found: Any


# Registries share the attributes of one module, so what to put back is a property of the process,
# not of a registry: for each attribute the layers in the order in which they were laid.
_LAYERS: dict[tuple[int, str], list[_Layer]] = {}
_LOCK = threading.RLock()


def _lay(module: ModuleType, name: str, value: Any) -> _Layer:
    with _LOCK:
        # vars(), not getattr(): a module-level __getattr__ must not turn into a stored attribute.
        layer = _Layer(module, name, value, vars(module).get(name, _ABSENT))
        setattr(module, name, value)
        _LAYERS.setdefault((id(module), name), []).append(layer)
        return layer


def _lift(layer: _Layer) -> None:
    """Remove a layer; a later layer that covers it inherits what it had found."""
    with _LOCK:
        key = (id(layer.module), layer.name)
        stack = _LAYERS[key]
        position = stack.index(layer)
        stack.remove(layer)
        if not stack:
            del _LAYERS[key]
        if position < len(stack):
            above = stack[position]
            if above.found is layer.value:
                above.found = layer.found
        elif layer.found is not _ABSENT:
            setattr(layer.module, layer.name, layer.found)
        elif layer.name in vars(layer.module):
            delattr(layer.module, layer.name)


class _Tracked:
    """Counts the calls of a file candidate; the counter is exact under threads."""

    def __init__(self, function: Callable[..., Any], module: ModuleType, origin: str) -> None:
        self.module = module
        self.origin = origin
        self.calls = 0
        lock = threading.Lock()

        @functools.wraps(function)
        def counted(*args: Any, **kwargs: Any) -> Any:
            with lock:
                self.calls += 1
            return function(*args, **kwargs)

        self.wrapper = counted

    def unload(self) -> None:
        sys.modules.pop(self.module.__name__, None)


class DynamicOpOverride:
    """Replaces operators of `flag_gems` and remembers what to put back.

    As a context manager it restores everything on exit, also when the body raises. Several
    registries may override one operator: the latest override is in effect, each registry restores
    only its own, and once all have restored, in any order, the original is back.

    Candidates from files are counted. One that was never called makes `restore`, `restore_all` and
    a clean exit of the `with` block raise `UnusedOverrideError`, an AssertionError, after all has
    been restored. A bare `override` is not counted.
    """

    def __init__(self) -> None:
        self._layers: dict[str, _Layer] = {}
        self._tracked: dict[str, _Tracked] = {}

    def override(self, op_name: str, implementation: Callable[..., Any]) -> bool:
        """Bind `implementation` itself, unwrapped, to `flag_gems.<op_name>`; returns True.

        The attribute need not exist yet: it is then added, and removed on restore.

        Raises:
            InvalidOperatorNameError: not an identifier, or the name of something else in
                `flag_gems` than an operator.
            CandidateNotCallableError: `implementation` cannot be called.
        """
        name = _operator_name(op_name)
        if not callable(implementation):
            raise CandidateNotCallableError(
                f"override of {name!r}: a {type(implementation).__name__} is not callable"
            )
        self._place(_resolve_module(name), name, implementation, None)
        return True

    def override_from_file(
        self, op_name: str, filepath: str | os.PathLike[str], func_name: str | None = None
    ) -> bool:
        """Load a function from a `.py` file, bind it with a call counter; returns True.

        Args:
            op_name: public operator name.
            filepath: any Python source file; relative to the current directory.
            func_name: function in the file; the operator's name when omitted.

        Raises:
            OverrideError: see `load_candidate` and `override`; nothing has been changed then.
        """
        self.override_batch_from_files({op_name: (filepath, func_name)})
        return True

    def override_batch_from_files(self, targets: Mapping[str, FileTarget]) -> dict[str, bool]:
        """Load and bind several candidates: `{op: path}` or `{op: (path, function)}`.

        All files are loaded before the first operator is replaced, so a failure changes nothing.
        Returns `{op: True}` for each operator.
        """
        loaded: list[tuple[ModuleType, str, _Tracked]] = []
        try:
            for op_name, target in targets.items():
                name = _operator_name(op_name)
                path, func_name = target if isinstance(target, tuple) else (target, None)
                module = _resolve_module(name)
                function, source = load_candidate(path, func_name or name)
                origin = f"{os.fspath(path)}:{func_name or name}"
                loaded.append((module, name, _Tracked(function, source, origin)))
        except BaseException:
            for _, _, tracked in loaded:
                tracked.unload()
            raise
        for module, name, tracked in loaded:
            self._place(module, name, tracked.wrapper, tracked)
        return dict.fromkeys(targets, True)

    def _place(
        self, module: ModuleType, name: str, value: Callable[..., Any], tracked: _Tracked | None
    ) -> None:
        with _LOCK:
            previous = self._layers.pop(name, None)
            if previous is not None:
                # Superseded by its own registry: it can no longer be called, so it is not "unused".
                _lift(previous)
                self._forget(name)
            self._layers[name] = _lay(module, name, value)
            if tracked is not None:
                self._tracked[name] = tracked

    def _forget(self, name: str) -> _Tracked | None:
        tracked = self._tracked.pop(name, None)
        if tracked is not None:
            tracked.unload()
        return tracked

    def restore(self, op_name: str, *, allow_unused: bool = False) -> bool:
        """Take back this registry's override of one operator; False when it had none.

        Raises:
            UnusedOverrideError: a file candidate was never called (the original is back by then).
        """
        name = _operator_name(op_name)
        if name not in self._layers:
            return False
        self._restore([name], allow_unused)
        return True

    def restore_all(self, *, allow_unused: bool = False) -> None:
        """Take back every override of this registry, the latest first; see `restore`."""
        self._restore(list(reversed(self._layers)), allow_unused)

    def _restore(self, names: list[str], allow_unused: bool) -> None:
        failed: list[tuple[str, Exception]] = []
        unused: list[str] = []
        for name in names:
            with _LOCK:
                layer = self._layers.pop(name, None)
                tracked = self._forget(name)
                if layer is not None:
                    try:
                        _lift(layer)
                    except Exception as error:
                        failed.append((name, error))
            if tracked is not None and tracked.calls == 0:
                unused.append(f"{PACKAGE}.{name} ({tracked.origin})")
        never = f"override never called: {', '.join(reversed(unused))}"
        if failed:
            listed = ", ".join(f"{PACKAGE}.{name}" for name, _ in failed)
            note = f"; {never}" if unused and not allow_unused else ""
            first = failed[0][1]
            raise RestoreError(f"could not restore {listed}: {first}{note}") from first
        if unused and not allow_unused:
            raise UnusedOverrideError(
                f"{never}; check the operator's name, and that the tests reach the candidate"
            )

    def list_overrides(self) -> dict[str, Callable[..., Any]]:
        """The overrides of this registry: `{"flag_gems.<op>": what is bound there}`."""
        return {f"{PACKAGE}.{name}": layer.value for name, layer in self._layers.items()}

    def get_override(self, op_name: str) -> Callable[..., Any] | None:
        """What this registry bound for the operator, or None."""
        layer = self._layers.get(_operator_name(op_name))
        return None if layer is None else layer.value

    def call_counts(self) -> dict[str, int]:
        """Calls so far of each candidate loaded from a file: `{"flag_gems.<op>": calls}`."""
        return {f"{PACKAGE}.{name}": tracked.calls for name, tracked in self._tracked.items()}

    def origins(self) -> dict[str, str]:
        """Where each candidate loaded from a file came from: `{"flag_gems.<op>": "file:func"}`."""
        return {f"{PACKAGE}.{name}": tracked.origin for name, tracked in self._tracked.items()}

    def __enter__(self) -> DynamicOpOverride:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # An exception from the body says more than "never called", which it may well have caused.
        self.restore_all(allow_unused=exc_type is not None)


def _operator_name(op_name: str) -> str:
    name = op_name.removeprefix(f"{PACKAGE}.") if isinstance(op_name, str) else ""
    if not name.isidentifier() or (name.startswith("__") and name.endswith("__")):
        raise InvalidOperatorNameError(f"{op_name!r} is not an operator name (a Python identifier)")
    return name


def _resolve_module(name: str) -> ModuleType:
    module = importlib.import_module(PACKAGE)
    if isinstance(vars(module).get(name), ModuleType):
        raise InvalidOperatorNameError(f"{PACKAGE}.{name} is a submodule, not an operator")
    if not _replaceable(module, name):
        raise InvalidOperatorNameError(
            f"{PACKAGE}.{name} is a part of the library that is no operator; give an operator "
            "(`python -m flag_gems.catalog` lists them) or a name of its own"
        )
    return module


def _replaceable(module: ModuleType, name: str) -> bool:
    """Whether the attribute is an operator, or free to become one."""
    value = vars(module).get(name)
    if value is None or (id(module), name) in _LAYERS:
        return True
    if any(name in operator.functions for operator in catalog.OPERATORS):
        return True
    # What else can be called is an operator of someone else's, unless it is the library's own
    # machinery (enable, use_gems, ...).
    machinery = str(getattr(value, "__module__", "")).startswith(f"{PACKAGE}.runtime.")
    return callable(value) and not isinstance(value, type) and not machinery
