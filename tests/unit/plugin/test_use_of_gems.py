# SPDX-License-Identifier: Apache-2.0
"""Accuracy sessions fail tests that would have tested torch."""

from __future__ import annotations

import pytest

PROBE = """
import pytest, torch
import flag_gems

@pytest.mark.neg
def test_native():
    assert torch.neg(torch.ones(2)).sum() == -2

@pytest.mark.neg
def test_other_operator():
    flag_gems.abs(torch.ones(2))

@pytest.mark.mul
def test_fell():
    flag_gems.mul(torch.ones(2, dtype=torch.complex64), 2)

@pytest.mark.mul
@pytest.mark.falls_through(reason="complex")
def test_fell_and_says_so():
    flag_gems.mul(torch.ones(2, dtype=torch.complex64), 2)

@pytest.mark.mul
@pytest.mark.falls_through(reason="complex")
def test_says_so_and_did_not():
    flag_gems.mul(torch.ones(2), 2)

@pytest.mark.mul
def test_gems():
    with flag_gems.use_gems():
        torch.ones(2) * 2

@pytest.mark.mul
def test_refused():
    with pytest.raises(RuntimeError):
        flag_gems.mul(torch.ones(2), torch.ones(3))

@pytest.mark.mul
def test_skipped():
    pytest.skip("not today")
"""


@pytest.fixture(scope="module")
def report(checkout):
    checkout.write("tests/test_probe.py", PROBE)
    done = checkout.pytest("-q", "tests/test_probe.py", "--record", "json", output=True)
    (checkout.root / "tests/test_probe.py").unlink()
    assert done.code == 1, done.text
    return {key.partition("::")[2]: record for key, record in done.report.items()}


@pytest.mark.parametrize(
    ("test", "reason"),
    [
        ("test_native", "passed without a call of neg"),
        ("test_other_operator", "passed without a call of neg"),
        ("test_fell", "mul was tested on torch's own kernel (mul.Tensor: dtype torch.complex64)"),
        ("test_says_so_and_did_not", "marked falls_through, but no call of mul went to torch"),
    ],
)
def test_a_test_of_torch_fails(report, test, reason):
    assert report[test]["result"] == "failed"
    assert reason in report[test]["reason"]


@pytest.mark.parametrize("test", ["test_fell_and_says_so", "test_gems", "test_refused"])
def test_a_test_of_the_library_passes(report, test):
    assert report[test]["result"] == "passed"


def test_a_skip_stays_a_skip(report):
    assert report["test_skipped"]["result"] == "skipped"
