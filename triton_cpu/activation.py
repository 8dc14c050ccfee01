# SPDX-License-Identifier: Apache-2.0
"""Whether kernels go to the CPU: always where no GPU is, beside a GPU only when asked for.

Triton refuses to choose between two active drivers, so this back end calls itself active only
when it is the one to use. Triton is imported late here: it imports this module while it looks for
back ends.
"""

from __future__ import annotations

import os
from typing import Any

VARIABLE = "TRITON_CPU"
"""1 asks for the CPU, 0 forbids it; anything else leaves it to the machine."""

_previous: list[Any] = []
"""The driver to go back to, while enable() is in force."""


def asked_for() -> bool | None:
    """What the environment says: True, False, or None where it says nothing."""
    return {"1": True, "0": False}.get(os.environ.get(VARIABLE, ""))


def is_enabled() -> bool:
    """Whether Triton's kernels now run on the CPU."""
    from triton.runtime.driver import driver

    from triton_cpu.driver import CPUDriver

    try:
        return isinstance(driver.active, CPUDriver)
    except RuntimeError:
        # Triton found no active driver, or several.
        return False


def enable() -> None:
    """Sends Triton's kernels to the CPU from now on, also where a GPU is present."""
    from triton.runtime.driver import driver

    from triton_cpu.driver import CPUDriver

    if is_enabled():
        return
    _previous.append(driver._active)
    driver.set_active(CPUDriver())


def disable() -> None:
    """Undoes enable(); kernels go where they went before."""
    from triton.runtime.driver import driver

    if _previous:
        driver._active = _previous.pop()


def is_cpu_the_one() -> bool:
    """The answer of CPUDriver.is_active(): asked for, or no other back end has a device."""
    wish = asked_for()
    return _no_other_active() if wish is None else wish


def _no_other_active() -> bool:
    from triton.backends import backends

    return not any(
        backend.driver.is_active() for name, backend in backends.items() if name != "cpu"
    )
