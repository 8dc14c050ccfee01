# SPDX-License-Identifier: Apache-2.0
"""The C++ operators are optional: these tests skip where they are not built (``make test-cpp``)."""

from __future__ import annotations

import pytest

from flag_gems import config


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if config.has_c_extension:
        return
    reason = "the C++ operators are not built: make test-cpp, or ENABLE_CPP=1 ./setup.sh cpu"
    for item in items:
        if "integration/cpp/" in item.nodeid:
            item.add_marker(pytest.mark.skip(reason=reason))
