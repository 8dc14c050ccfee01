# SPDX-License-Identifier: Apache-2.0
"""Tensors of other devices are refused until their memory is said to be the host's."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

import triton_cpu
from triton_cpu import packing


def test_a_device_is_refused_until_it_is_admitted(monkeypatch):
    monkeypatch.setattr(packing, "_ON_HOST", set(packing._ON_HOST))
    tensor = SimpleNamespace(device=SimpleNamespace(type="simulated"), data_ptr=lambda: 4096)
    with pytest.raises(packing.BadArgument, match="lies on"):
        packing.pointer(tensor)
    triton_cpu.admit("simulated")
    assert packing.pointer(tensor) == 4096
