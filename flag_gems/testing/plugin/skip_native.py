# SPDX-License-Identifier: Apache-2.0
"""The mark `skip_native(vendors=, reason=)`: a baseline that cannot run on some vendors."""

from __future__ import annotations

import pytest


def native_skip_reason(item: pytest.Item) -> str | None:
    """Why the test's baseline cannot run on this vendor; None when it can.

    Raises:
        pytest.UsageError: the mark lacks a vendor or a reason, or has other arguments.
    """
    mark = item.get_closest_marker("skip_native")
    if mark is None:
        return None
    vendors = mark.kwargs.get("vendors")
    names = (vendors,) if isinstance(vendors, str) else tuple(vendors or ())
    reason = mark.kwargs.get("reason")
    if (
        mark.args
        or set(mark.kwargs) != {"vendors", "reason"}
        or not names
        or not all(isinstance(name, str) and name.strip() for name in names)
        or not isinstance(reason, str)
        or not reason.strip()
    ):
        raise pytest.UsageError(
            f"{item.nodeid}: skip_native takes vendors=<name or names> and reason=<text>"
        )
    import flag_gems

    return reason.strip() if flag_gems.vendor_name in names else None
