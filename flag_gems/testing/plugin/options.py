# SPDX-License-Identifier: Apache-2.0
"""What the accuracy suite was asked for, as tests read it; the plug-in fills it in."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Options:
    """Settings of the running test session; the defaults hold outside pytest."""

    quick: bool = False
    """`--quick`: fewer shapes and dtypes."""
    reference: str = "device"
    """`--ref`: "device" computes references where the operator runs, "cpu" on the host."""


options = Options()
