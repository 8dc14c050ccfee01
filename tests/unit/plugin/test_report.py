# SPDX-License-Identifier: Apache-2.0
"""What a report may hold, and that workers of pytest-xdist can send it."""

from __future__ import annotations

import json
import math
from enum import Enum
from typing import Any

import numpy as np
import pytest

from flag_gems.testing.plugin.report import encode, plain


class Colour(str, Enum):
    RED = "red"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Colour.RED, "red"),
        ({"a": (Colour.RED, 1)}, {"a": ["red", 1]}),
        (math.inf, "inf"),
        (2.5, 2.5),
        (np.float64(2.5), 2.5),
        (True, True),
        ({1: None}, {"1": None}),
        (frozenset({3}), [3]),
        ("\ud800 é", "\\ud800 é"),
    ],
)
def test_values_become_what_json_holds(value: Any, text: Any) -> None:
    result = plain(value)
    assert result == text
    assert json.loads(encode(value)) == text
    # A subclass of str would look equal and still not pass between processes.
    assert type(result) in (str, dict, list, float, bool)
