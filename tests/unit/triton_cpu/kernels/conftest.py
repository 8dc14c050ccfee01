# SPDX-License-Identifier: Apache-2.0
"""Settings of the kernel tests: few examples, since each new constexpr is a compilation."""

from __future__ import annotations

import os
from collections.abc import Iterator

import hypothesis
import pytest
import torch

# With TRITON_INTERPRET=1 the same tests check the kernels' own logic, a thousand times slower.
EXAMPLES = 2 if os.environ.get("TRITON_INTERPRET") == "1" else 12
hypothesis.settings.register_profile(
    "kernels",
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    # A first example compiles.
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)


@pytest.fixture(autouse=True, scope="package")
def _few_examples() -> Iterator[None]:
    hypothesis.settings.load_profile("kernels")
    yield
    hypothesis.settings.load_profile("default")


@pytest.fixture
def thread_count() -> Iterator[None]:
    """Gives back torch's number of threads to what it was."""
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)
