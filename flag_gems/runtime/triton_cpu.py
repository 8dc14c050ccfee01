# SPDX-License-Identifier: Apache-2.0
"""Which of two ways Triton's kernels run on a CPU: a native back end, or Triton's own interpreter.

Triton decides between compiling and interpreting when a function is decorated, its own library
included. The choice has to be made before Triton is imported, and can't be repaired afterwards.
"""

from __future__ import annotations

import os
import sys
from importlib.metadata import entry_points

_FALSE = ("", "0", "false", "off", "no", "n")


class ImportOrderError(RuntimeError):
    """Triton was imported before it could be told to interpret kernels on the CPU."""


def has_native_backend() -> bool:
    """Whether a package offers Triton a back end named ``cpu``."""
    return any(point.name == "cpu" for point in entry_points(group="triton.backends"))


def _library_is_interpreted() -> bool:
    import triton.language as tl
    from triton.runtime.interpreter import InterpretedFunction

    return isinstance(tl.cdiv, InterpretedFunction)


def prepare() -> bool:
    """Makes Triton ready for the CPU and answers whether kernels are interpreted.

    Raises:
        ImportOrderError: Triton is already imported, in compiling mode, and no native back end
            exists.
    """
    asked = os.environ.get("TRITON_INTERPRET", "").lower() not in _FALSE
    if not asked and has_native_backend():
        return False
    if "triton.language" in sys.modules and not _library_is_interpreted():
        raise ImportOrderError(
            "triton was imported before flag_gems and can't run kernels on the CPU any more: "
            "import flag_gems first, or set TRITON_INTERPRET=1"
        )
    os.environ["TRITON_INTERPRET"] = "1"
    return True


def interpreting() -> bool:
    """Whether kernels decorated from now on are interpreted (a user may want it on a GPU)."""
    return os.environ.get("TRITON_INTERPRET", "").lower() not in _FALSE
