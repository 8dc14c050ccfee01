# SPDX-License-Identifier: Apache-2.0
"""exponential_: its distribution, and that it obeys its generator."""

from __future__ import annotations

import math

import pytest
import torch

import flag_gems
from flag_gems.testing import assert_equal
from flag_gems.testing.operands import FLOATING

pytestmark = pytest.mark.exponential_

COUNT = 200_000


def _drawn(dtype=torch.float32, lambd=1.0, seed=5, count=COUNT):
    generator = torch.Generator(flag_gems.device).manual_seed(seed)
    x = torch.empty(count, dtype=dtype, device=flag_gems.device)
    return flag_gems.exponential_(x, lambd, generator=generator)


@pytest.mark.parametrize("dtype", [*FLOATING, torch.float64])
@pytest.mark.parametrize("lambd", [0.25, 1.0, 8.0])
def test_distribution(dtype, lambd):
    x = _drawn(dtype, lambd).double().cpu()
    assert x.isfinite().all()
    assert (x > 0).all()
    # Five standard errors of the mean and of the median's rank, and the rounding of the dtype.
    rounding = torch.finfo(dtype).eps
    assert abs(x.mean() * lambd - 1) < 5 / math.sqrt(COUNT) + rounding
    assert abs((x > math.log(2) / lambd).double().mean() - 0.5) < 2.5 / math.sqrt(COUNT) + rounding
    # Kolmogorov and Smirnov: the largest gap between the distributions, passed in all but 1e-6.
    ordered = x.sort().values
    gap = (1 - torch.exp(-lambd * ordered)) - torch.arange(1, COUNT + 1) / COUNT
    assert gap.abs().max() < math.sqrt(-0.5 * math.log(0.5e-6) / COUNT) + rounding


def test_elements_are_independent():
    x = _drawn() - 1
    for shift in (1, 2, 256, 1024, 4096):
        product = (x[:-shift] * x[shift:]).double().mean().item()
        # The product of two independent ones has mean 0 and variance 1.
        assert abs(product) < 5 / math.sqrt(COUNT)


def test_generator_is_obeyed():
    assert_equal(_drawn(), _drawn())
    assert not torch.equal(_drawn(), _drawn(seed=6))
    generator = torch.Generator(flag_gems.device).manual_seed(5)
    x = torch.empty(2, COUNT, device=flag_gems.device)
    flag_gems.exponential_(x[0], generator=generator)
    flag_gems.exponential_(x[1], generator=generator)
    assert_equal(x[0], _drawn())
    assert not torch.equal(x[0], x[1])


def test_seed_of_the_process_is_obeyed():
    x, y = (torch.empty(1000, device=flag_gems.device) for _ in range(2))
    for one in (x, y):
        torch.manual_seed(11)
        flag_gems.exponential_(one)
    assert_equal(x, y)


def test_a_prefix_does_not_depend_on_the_length():
    assert_equal(_drawn(count=5000)[:1000], _drawn(count=1 << 14)[:1000])


def test_views():
    x = torch.zeros(50, 40, device=flag_gems.device)
    assert flag_gems.exponential_(x[:, ::2]) is not None
    assert (x[:, ::2] > 0).all()
    assert not x[:, 1::2].any()
    flag_gems.exponential_(x.t())
    assert (x > 0).all()
    assert flag_gems.exponential_(x[:0]).numel() == 0


def test_through_torch():
    x = torch.empty(1000, device=flag_gems.device)
    with flag_gems.use_gems(include=["exponential_"]) as gems:
        x.exponential_(2.0)
    assert gems.calls == {"exponential_": 1}
    assert (x > 0).all()


@pytest.mark.parametrize(
    ("dtype", "lambd"), [(torch.float32, 0.0), (torch.float32, -1.0), (torch.int32, 1.0)]
)
def test_what_torch_refuses_is_its_error(dtype, lambd):
    x = torch.zeros(4, dtype=dtype, device=flag_gems.device)
    with pytest.raises(RuntimeError):
        flag_gems.exponential_(x, lambd)
