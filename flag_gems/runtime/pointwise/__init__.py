# SPDX-License-Identifier: Apache-2.0
"""Element-wise operators from one description: broadcasting, strides, dtypes and overlap.

An operator gives a device function and says how dtypes promote; the wrapper is one line:

    _ADD = Pointwise(_add)

    def add(input, other, *, alpha=1):
        return _ADD("add.Tensor", input, other, numbers={"alpha": alpha})
"""

from flag_gems.runtime.pointwise.launch import apply, empty_for
from flag_gems.runtime.pointwise.operands import Number, Operand, limit, write_limit
from flag_gems.runtime.pointwise.operator import Pointwise, to_boolean, to_floating

__all__ = [
    "Number",
    "Operand",
    "Pointwise",
    "apply",
    "empty_for",
    "limit",
    "to_boolean",
    "to_floating",
    "write_limit",
]
