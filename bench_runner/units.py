# SPDX-License-Identifier: Apache-2.0
"""Numbers as people read them, the same in the table and in the report."""

from __future__ import annotations

from decimal import Decimal


def ratio(value: float) -> str:
    """Two decimals, or two figures where those would be lost."""
    if value >= 0.1:
        return f"{value:.2f}×"
    # Never as an exponent: 9.4e-05 is hard to compare with 0.0042.
    return format(Decimal(f"{value:.2g}"), "f") + "×"


def milliseconds(value: float) -> str:
    """A latency with a unit that keeps three figures readable."""
    if value < 1:
        return f"{value * 1000:.3g} µs"
    return f"{value:.4g} ms" if value < 1000 else f"{value / 1000:.4g} s"
