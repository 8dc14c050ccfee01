# SPDX-License-Identifier: Apache-2.0
"""The call ledger: what it notes, and that its counts are exact."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

import flag_gems
from flag_gems import runtime
from flag_gems.runtime import ledger


def _noted(function):
    before = runtime.calls()
    function()
    return runtime.calls() - before


def _x(dtype=torch.float32):
    return torch.ones(3, dtype=dtype, device=flag_gems.device)


def test_kernel_torch_and_refusal_are_told_apart():
    def work():
        flag_gems.mul(_x(), 2)
        flag_gems.mul(_x(torch.complex64), 2)
        with pytest.raises(RuntimeError):
            flag_gems.mul(_x(), _x().expand(2, 3)[:, :2])

    assert _noted(work) == {
        ("mul.Tensor", "gems", ""): 1,
        ("mul.Tensor", "native", "dtype torch.complex64"): 1,
        ("mul.Tensor", "refused", "shapes"): 1,
    }


def test_dispatched_calls_are_noted_once():
    def work():
        with flag_gems.use_gems():
            _ = _x() * 2
            _ = _x(torch.complex64) * 2

    noted = _noted(work)
    assert noted["mul.Tensor", "gems", ""] == 1
    assert noted["mul.Tensor", "native", "dtype torch.complex64"] == 1


def test_a_candidate_written_with_the_operator_itself_is_seen(monkeypatch):
    monkeypatch.setattr(flag_gems, "neg", lambda input: torch.neg(input))

    def work():
        with flag_gems.use_gems(include=["neg"]):
            torch.neg(_x())

    assert _noted(work) == {("neg", "native", "called from inside its own implementation"): 1}


def test_counts_are_exact_under_threads():
    def count(_):
        for _ in range(2000):
            ledger.record("probe", "gems")

    def work():
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(count, range(4)))

    assert _noted(work) == {("probe", "gems", ""): 8000}


def test_a_fall_without_a_reason_is_refused():
    with pytest.raises(ValueError, match="no entry of the ledger"):
        ledger.record("probe", "native")
    with pytest.raises(ValueError, match="no entry of the ledger"):
        ledger.record("probe", "maybe")
