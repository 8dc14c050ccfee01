# SPDX-License-Identifier: Apache-2.0
"""How accuracy tests draw shapes with hypothesis; apart, because only tests have hypothesis."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st

from flag_gems.testing import options

drawn = settings(
    max_examples=5 if options.quick else 15,
    deadline=None,
    derandomize=True,
    database=None,
)
"""Few examples, because kernels may be interpreted; the same ones each time, because a verdict
depends on them; and nothing written to disk."""

shapes = st.lists(st.integers(1, 9), min_size=0, max_size=4).map(tuple)
"""Shapes of up to four dimensions, none of them empty."""
