# SPDX-License-Identifier: Apache-2.0
"""The measuring engine against a clock that the test sets."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from flag_gems.testing.benchmark.inputs import Inputs
from flag_gems.testing.benchmark.sampling import (
    BLOCKS,
    MAX_SAMPLES,
    MIN_SAMPLES,
    SAMPLE_MS,
    Side,
    sample,
    summarize,
)
from flag_gems.testing.benchmark.timers import HostTimer, make_timer
from flag_gems.testing.plugin.parallel import merge, without_options


class FakeClock:
    """Says what each side takes; calls every call, as a real clock does."""

    resets = True

    def __init__(self, milliseconds, batches=True):
        self.milliseconds = milliseconds
        self.batches = batches
        self.order = []
        self.seconds = 0.0

    def now(self):
        return self.seconds

    def samples(self, batches):
        result = []
        for batch in batches:
            names = [call() for call in batch]
            self.order.append((names[0], len(batch)))
            result.append(self.milliseconds[names[0]])
            self.seconds += len(batch) * result[-1] / 1e3
        return result


def sides(*names, writes=()):
    arguments = (torch.zeros(3),) if writes else ()
    return [Side(lambda *a, name=name: name, Inputs(arguments, writes=writes)) for name in names]


def test_sides_alternate_in_blocks_whose_order_turns_round():
    clock = FakeClock({"base": 1.0, "candidate": 2.0})
    pair = sides("base", "candidate")
    sample(pair, clock, 0, 40, clock.now)
    assert [len(side.values) for side in pair] == [40, 20]
    timed = [name for name, _ in clock.order[-60:]]
    blocks = [timed[index * 6 : index * 6 + 6] for index in range(BLOCKS)]
    assert blocks[0] == ["base"] * 4 + ["candidate"] * 2
    assert blocks[1] == ["candidate"] * 2 + ["base"] * 4
    assert blocks[::2] == [blocks[0]] * 5
    assert blocks[1::2] == [blocks[1]] * 5


@settings(max_examples=25, deadline=None)
@given(
    base=st.floats(1e-5, 50.0),
    candidate=st.floats(1e-5, 50.0),
    warmup=st.floats(0, 5),
    iterate=st.floats(0.1, 20),
)
def test_samples_are_long_enough_and_neither_few_nor_endless(base, candidate, warmup, iterate):
    times = {"base": base, "candidate": candidate}
    pair = sides("base", "candidate")
    clock = FakeClock(times)
    sample(pair, clock, warmup, iterate, clock.now)
    for side, milliseconds in zip(pair, times.values(), strict=True):
        assert MIN_SAMPLES <= len(side.values) <= MAX_SAMPLES + BLOCKS
        assert side.batch * milliseconds >= SAMPLE_MS * (1 - 1e-9)
        assert summarize(side).median_ms == milliseconds
        assert summarize(side).spread == 0


def test_a_clock_that_takes_one_call_a_sample_gets_one():
    pair = sides("base", "candidate")
    clock = FakeClock({"base": 1e-4, "candidate": 1e-4}, batches=False)
    sample(pair, clock, 0, 1, clock.now)
    assert [side.batch for side in pair] == [1, 1]


def test_every_call_of_a_writing_operator_gets_its_own_clone():
    seen = []
    original = torch.ones(4)

    def double(x):
        assert (x == 1).all()
        seen.append(x)
        x.mul_(2)

    side = Side(double, Inputs((original,), writes=(0,)))
    sample([side], HostTimer(wait=True), warmup_ms=0, iter_ms=1)
    assert (original == 1).all()
    assert len({id(x) for x in seen}) == len(seen)


def test_spread_is_the_interquartile_range_over_the_median_and_warns():
    side = Side(lambda: None, Inputs(()), values=[1.0, 2.0, 3.0, 4.0, 5.0])
    summary = summarize(side)
    assert (summary.median_ms, summary.spread, summary.samples) == (3.0, pytest.approx(2 / 3), 5)
    assert [warning.split(":")[0] for warning in summary.warnings("baseline")] == ["baseline"] * 2
    assert summarize(Side(lambda: None, Inputs(()), values=[1.0] * 10)).warnings("x") == []


@pytest.mark.parametrize("value", [0.0, float("nan"), float("inf")])
def test_a_broken_clock_gives_no_latency(value):
    with pytest.raises(ArithmeticError, match="the median of 5 samples"):
        summarize(Side(lambda: None, Inputs(()), values=[value] * 5))


@pytest.mark.parametrize("mode", ["kernel", "operator", "wrapper"])
def test_real_clocks_see_a_longer_call_as_longer(mode):
    timer = make_timer(mode)
    short, long = torch.zeros(10), torch.zeros(3_000_000)
    pair = [Side(torch.exp, Inputs((x,))) for x in (short, long)]
    sample(pair, timer, warmup_ms=1, iter_ms=5)
    assert summarize(pair[0]).median_ms < summarize(pair[1]).median_ms


def test_reports_of_several_devices_merge():
    def report(result, *ordinals):
        cases = [{"case_id": f"f.py::t::core::float32::{i}", "ordinal": i} for i in ordinals]
        detail = {"op_name": "neg", "dtype": "float32", "mode": "kernel", "level": "core"}
        reason = "why" if result == "failed" else None
        return {
            "neg": {"result": result, "reason": reason, "details": [{**detail, "result": cases}]}
        }

    merged = merge([report("passed", 0, 2), report("failed", 1, 3), report("skipped")])
    assert (merged["neg"]["result"], merged["neg"]["reason"]) == ("failed", "why")
    (detail,) = merged["neg"]["details"]
    assert [case["ordinal"] for case in detail["result"]] == [0, 1, 2, 3]


def test_options_are_taken_out_of_a_command_line():
    line = ["-q", "--parallel", "2", "f.py", "--output=x.json", "--override", "a:b", "--iter=1"]
    assert without_options(line, ("--parallel", "--output")) == [
        "-q", "f.py", "--override", "a:b", "--iter=1",
    ]  # fmt: skip
