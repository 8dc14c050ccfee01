# SPDX-License-Identifier: Apache-2.0
"""Reductions from one description: dims, dtypes, strides, splitting and nothing to reduce.

_SUM = Reduction("sum", identity=lambda dtype: 0, result=_counted)

def sum_dim(input, dim=None, keepdim=False, *, dtype=None):
    return _SUM("sum.dim_IntList", input, dim, keepdim, dtype=dtype)
"""

from flag_gems.runtime.reductions.extreme import Extreme
from flag_gems.runtime.reductions.operator import Reduction

__all__ = ["Extreme", "Reduction"]
