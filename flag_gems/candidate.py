# SPDX-License-Identifier: Apache-2.0
"""Running a candidate's file, which lies anywhere and belongs to no package, as a module."""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import module_from_spec
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

_MODULE_NUMBER = itertools.count(1)


class OverrideError(Exception):
    """An override could not be placed or undone; the message is one line for a person."""


class CandidateFileNotFoundError(OverrideError, FileNotFoundError):
    """The candidate's file does not exist or is not a regular file."""


class CandidateFunctionNotFoundError(OverrideError, AttributeError):
    """The candidate's file has no function of that name."""


class CandidateNotCallableError(OverrideError, TypeError):
    """The object given as an implementation cannot be called."""


class CandidateImportError(OverrideError, ImportError):
    """Running the candidate's file failed; `__cause__` is its own exception with its traceback."""


class _SourceLoader(SourceFileLoader):
    """Always compiles the file's present text.

    Cached bytecode is keyed on size and whole seconds of modification time, which two edits of a
    candidate within one second can share; and a candidate's folder may be read-only.
    """

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)


def load_candidate(
    filepath: str | os.PathLike[str], func_name: str
) -> tuple[Callable[..., Any], ModuleType]:
    """Run a candidate's file as a module of its own and return its function and the module.

    The module stays in `sys.modules` under a unique name (dataclasses and pickle look there), and
    loading one file twice gives two independent modules. The file's folder is not on `sys.path`.

    Raises:
        CandidateFileNotFoundError: no regular file at `filepath` (relative paths: to the current
            directory).
        CandidateImportError: the file raised while it ran, be it SystemExit, KeyboardInterrupt or
            pytest's skip.
        CandidateFunctionNotFoundError, CandidateNotCallableError: `func_name` is missing or is not
            callable.
    """
    path = Path(os.path.abspath(Path(filepath).expanduser()))
    if not path.is_file():
        what = "is a directory" if path.is_dir() else "does not exist"
        raise CandidateFileNotFoundError(
            f"candidate file {str(filepath)!r} {what} (looked at {path})"
        )
    stem = "".join(c if c.isalnum() else "_" for c in path.stem)
    module_name = f"flag_gems_candidate_{next(_MODULE_NUMBER)}_{stem}"
    loader = _SourceLoader(module_name, str(path))
    spec = ModuleSpec(module_name, loader, origin=str(path))
    spec.has_location = True
    module = module_from_spec(spec)
    sys.modules[module_name] = module
    try:
        # SystemExit and its like too: a candidate must not end or skip the session that loads it,
        # least of all with status 0. A real Ctrl-C in these lines can't be told from a candidate's
        # own KeyboardInterrupt, and also ends as this error.
        try:
            loader.exec_module(module)
        except BaseException as error:
            reason = f"{type(error).__name__}: {error}".splitlines()[0]
            raise CandidateImportError(
                f"candidate file {path} failed to import: {reason}"
            ) from error
        if not hasattr(module, func_name):
            raise CandidateFunctionNotFoundError(
                f"candidate file {path} has no function {func_name!r} "
                f"(it has {_public_callables(module)})"
            )
        function = getattr(module, func_name)
        if not callable(function):
            raise CandidateNotCallableError(
                f"{func_name!r} in candidate file {path} is not callable "
                f"(it is of type {type(function).__name__})"
            )
    except BaseException:
        sys.modules.pop(module_name, None)
        raise
    return function, module


def _public_callables(module: ModuleType) -> str:
    own = [
        name
        for name, value in vars(module).items()
        if callable(value) and getattr(value, "__module__", None) == module.__name__
    ]
    return ", ".join(own[:8]) or "no functions"
