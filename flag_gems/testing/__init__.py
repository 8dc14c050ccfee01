# SPDX-License-Identifier: Apache-2.0
"""What tests and benchmarks of operators share: tolerances, references, the session's options.

from flag_gems.testing import assert_close, to_reference

ref = torch.softmax(to_reference(x, upcast=True), dim=-1)
assert_close(flag_gems.softmax(x), ref, x.dtype)
"""

from flag_gems.testing.accuracy import (
    RESOLUTION,
    assert_close,
    assert_equal,
    to_reference,
    tolerance,
)
from flag_gems.testing.plugin.options import Options, options

__all__ = [
    "RESOLUTION",
    "Options",
    "assert_close",
    "assert_equal",
    "options",
    "to_reference",
    "tolerance",
]
