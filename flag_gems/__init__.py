# SPDX-License-Identifier: Apache-2.0
"""Operators for PyTorch in Triton, replaceable at run time.

import flag_gems

flag_gems.softmax(x, dim=-1)       # call an operator
with flag_gems.use_gems():         # or let torch use them
    torch.softmax(x, dim=-1)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from flag_gems import config, runtime
from flag_gems.catalog import OPERATORS
from flag_gems.runtime import activation, cpp, registrar

cpp.load(config.has_c_extension)

device: str = runtime.device.name
vendor_name: str = runtime.device.vendor_name


def _load_operators() -> tuple[tuple[str, Any], ...]:
    """Makes the catalogue's functions attributes of this module; answers the ATen bindings."""
    bindings = []
    for operator in OPERATORS:
        module = import_module(operator.module)
        functions = {name: getattr(module, name) for name in operator.functions}
        if config.use_c_extension:
            functions = {name: cpp.branch(name, one) for name, one in functions.items()}
        globals().update(functions)
        bindings += [(key, getattr(module, function)) for key, function in operator.aten]
    return tuple(bindings)


_FULL_CONFIG: tuple[tuple[str, Any], ...] = _load_operators()

GeneralOpRegistrar = registrar.GeneralOpRegistrar
enable = activation.enable
only_enable = activation.only_enable
disable = activation.disable
use_gems = activation.use_gems


if TYPE_CHECKING:
    # Type checkers do not see the operators that _load_operators adds.
    def __getattr__(name: str) -> Any: ...


__all__ = [
    "GeneralOpRegistrar",
    "config",
    "device",
    "disable",
    "enable",
    "only_enable",
    "runtime",
    "use_gems",
    "vendor_name",
]
