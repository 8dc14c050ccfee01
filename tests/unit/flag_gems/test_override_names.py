# SPDX-License-Identifier: Apache-2.0
"""Which attributes of the real library an override may replace: its operators, and no other."""

from __future__ import annotations

import pytest

import flag_gems
from flag_gems.catalog import OPERATORS
from flag_gems.dynamic_registry import DynamicOpOverride, InvalidOperatorNameError

FUNCTIONS = {name for operator in OPERATORS for name in operator.functions}


@pytest.mark.parametrize("name", sorted({*flag_gems.__all__, "_FULL_CONFIG", "OPERATORS"}))
def test_the_librarys_interface_is_refused(name):
    assert name not in FUNCTIONS
    before = getattr(flag_gems, name)
    with pytest.raises(InvalidOperatorNameError, match=name) as caught:
        DynamicOpOverride().override(name, print)
    assert "\n" not in str(caught.value)
    assert getattr(flag_gems, name) is before


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_every_function_of_an_operator_can_be_replaced(name):
    original = getattr(flag_gems, name)
    with DynamicOpOverride() as registry:
        registry.override(name, print)
        assert getattr(flag_gems, name) is print
    assert getattr(flag_gems, name) is original
