# SPDX-License-Identifier: Apache-2.0
"""The C++ operators, where they were built: finds, loads, and calls them in place of Python.

The compiled modules come in a package of their own, ``flag_gems_cpp``; :func:`extend` makes its
folder a part of this package. docs/cpp.md tells the ways of calling.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, MutableSequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import torch

PACKAGE = "flag_gems_cpp"


def extend(path: MutableSequence[str]) -> None:
    """Lets ``flag_gems`` find the compiled modules, where they are installed."""
    spec = find_spec(PACKAGE)
    if spec is not None and spec.submodule_search_locations:
        path.extend(place for place in spec.submodule_search_locations if place not in path)


def asked_for() -> bool:
    """Whether the environment wants the C++ operators used: USE_C_EXTENSION=1."""
    return os.environ.get("USE_C_EXTENSION", "0") == "1"


def load(available: bool) -> None:
    """Registers torch.ops.flag_gems, and with USE_C_EXTENSION=1 replaces torch's own kernels.

    Warns where the C++ operators are asked for and absent.
    """
    if not available:
        if asked_for():
            warnings.warn(
                "USE_C_EXTENSION=1, but the C++ operators are not installed: Python's are used. "
                "Build them with ENABLE_CPP=1 ./setup.sh BACKEND (docs/cpp.md)",
                RuntimeWarning,
                stacklevel=3,
            )
        return
    if not torch._C._dispatch_has_kernel("flag_gems::softmax"):  # a C++ program may have its own
        import_module("flag_gems.c_operators")
    import_module("flag_gems.runtime.cpp_fakes")
    if asked_for() and find_spec("flag_gems.aten_patch") is not None:
        import_module("flag_gems.aten_patch").enable()


def branch(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """What ``flag_gems.<name>`` is with USE_C_EXTENSION=1: the C++ operator, where there is one."""
    from flag_gems.runtime.cpp_branches import BRANCHES

    make = BRANCHES.get(name)
    return make(function) if make is not None else function
