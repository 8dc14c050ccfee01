# SPDX-License-Identifier: Apache-2.0
"""Which optional parts of the library are there and in use in this process."""

from __future__ import annotations

from importlib.util import find_spec

import flag_gems
from flag_gems.runtime import cpp

cpp.extend(flag_gems.__path__)

has_c_extension: bool = find_spec("flag_gems.c_operators") is not None
"""Whether the C++ operators were built and installed."""

use_c_extension: bool = has_c_extension and cpp.asked_for()
"""Whether they are used; asked for with USE_C_EXTENSION=1."""
