# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the kernel tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch


@pytest.fixture
def thread_count() -> Iterator[None]:
    """Gives back torch's number of threads to what it was."""
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)
