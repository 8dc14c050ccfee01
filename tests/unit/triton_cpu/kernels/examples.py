# SPDX-License-Identifier: Apache-2.0
"""Hypothesis's ``given`` with few examples, since each new constexpr is a compilation."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

import hypothesis
from hypothesis.strategies import SearchStrategy

Test = TypeVar("Test", bound=Callable[..., Any])

# With TRITON_INTERPRET=1 the same tests check the kernels' own logic, a thousand times slower.
FEW = hypothesis.settings(
    max_examples=2 if os.environ.get("TRITON_INTERPRET") == "1" else 8,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)


def given(**strategies: SearchStrategy[Any]) -> Callable[[Test], Test]:
    """``hypothesis.given`` under the settings of the kernel tests."""

    def decorate(test: Test) -> Test:
        return FEW(hypothesis.given(**strategies)(test))

    return decorate
