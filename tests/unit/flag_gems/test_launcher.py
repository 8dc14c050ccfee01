# SPDX-License-Identifier: Apache-2.0
"""The launcher of kernels: it must choose what Triton chooses, whatever came before."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl
from hypothesis import given, settings
from hypothesis import strategies as st

import flag_gems
from flag_gems.runtime import interpreted, launcher
from flag_gems.runtime.launcher import kernel

pytestmark = pytest.mark.skipif(interpreted, reason="the interpreter launches nothing")


def _scale(x, out, n, number, COUNT: tl.constexpr, TYPE: tl.constexpr, BLOCK: tl.constexpr = 16):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n).to(TYPE)
    for _ in tl.static_range(COUNT):
        if number is not None:
            value = value * number
    tl.store(out + i, value, mask=i < n)


@triton.jit
def twice(value):
    return value * 2


def _apply(x, out, FUNCTION: tl.constexpr):
    tl.store(out, FUNCTION(tl.load(x)))


def _tensor(dtype=torch.float32, offset=0):
    return torch.ones(64, dtype=dtype, device=flag_gems.device)[offset:]


def _meaning(compiled):
    return compiled.src.signature, compiled.src.constants, compiled.src.attrs


ARGUMENTS = st.tuples(
    st.tuples(st.sampled_from([torch.float32, torch.int32]), st.sampled_from([0, 1])),
    st.sampled_from([1, 2, 3, 16, 17, 32, 1 << 31, 1 << 32, True]),
    st.sampled_from([1, 1.0, 2.5, None, True, 16, -16]),
    st.sampled_from([0, 1, 2]),
    st.sampled_from([tl.float32, tl.int64]),
    st.sampled_from([None, 4, 8]),
)


@pytest.fixture(scope="module")
def pair():
    return kernel(_scale), triton.jit(_scale)


@settings(max_examples=25, deadline=None)
@given(calls=st.lists(ARGUMENTS, min_size=2, max_size=5))
def test_it_launches_what_triton_would(pair, calls):
    ours, theirs = pair
    out = _tensor()
    for (dtype, offset), n, number, count, type_, num_warps in calls * 2:
        options = {} if num_warps is None else {"num_warps": num_warps}
        x = _tensor(dtype, offset)
        arguments = (x, out, n, number)
        constants = {"COUNT": count, "TYPE": type_}
        chosen = ours[(1,)](*arguments, **constants, **options)
        res = out[:16].clone()
        expected = theirs[(1,)](*arguments, **constants, **options)
        assert _meaning(chosen) == _meaning(expected)
        assert chosen.metadata.num_warps == expected.metadata.num_warps
        assert torch.equal(res, out[:16])
    assert not any(name == "_scale" for name, _ in launcher.plain_launches)


def test_a_hook_sees_every_launch_while_it_is_set():
    run = kernel(_scale)
    x, out = _tensor(), _tensor()
    seen = []

    def hook(metadata):
        seen.append(metadata.get()["name"])

    for hooked in (False, True, False):
        if hooked:
            triton.knobs.runtime.launch_enter_hook.add(hook)
        try:
            for _ in range(3):
                run[(1,)](x, out, 16, 2.0, COUNT=1, TYPE=tl.float32)
        finally:
            triton.knobs.runtime.launch_enter_hook.remove(hook)
    assert seen == ["_scale"] * 3


def test_functions_are_told_apart_by_identity():
    run = kernel(_apply)
    x, out = torch.full((1,), 3.0, device=flag_gems.device), _tensor()
    for function, expected in ((twice, 6.0), (_negate(), -3.0), (_negate(), -3.0), (twice, 6.0)):
        run[(1,)](x, out, FUNCTION=function)
        assert out[0].item() == expected


def _negate():
    @triton.jit
    def negate(value):
        return -value

    return negate


def test_rare_options_and_grids_go_through_triton_and_are_counted():
    run = kernel(_scale)
    x, out = _tensor(), _tensor()
    before = sum(launcher.plain_launches.values())
    for _ in range(2):
        run[lambda given: (given["COUNT"],)](x, out, 16, 3.0, COUNT=1, TYPE=tl.float32)
        run[(1,)](x, out, 16, 3.0, COUNT=1, TYPE=tl.float32, num_ctas=1)
    assert sum(launcher.plain_launches.values()) == before + 4
    assert torch.equal(out[:16], torch.full_like(out[:16], 3.0))


def test_sizes_that_never_repeat_do_not_fill_the_memory(monkeypatch):
    monkeypatch.setattr(launcher, "_MOST_KEYS", 4)
    run = kernel(_scale)
    x, out = _tensor(), _tensor()
    for n in range(2, 15):
        out.zero_()
        run[(1,)](x, out, n, 1.0, COUNT=1, TYPE=tl.float32)
        assert out.sum().item() == n
        assert len(run._kept) <= 4


def test_a_kernel_keeps_what_triton_offers_on_it():
    run = kernel(do_not_specialize=["n"])(_scale)
    assert run.arg_names[:3] == ["x", "out", "n"]
    x, out = _tensor(), _tensor()
    chosen = run[(1,)](x, out, 1, 2.0, COUNT=1, TYPE=tl.float32)
    assert chosen.src.signature["n"] == "i32"
    assert run.warmup(x, out, 1, 2.0, COUNT=1, TYPE=tl.float32, grid=(1,)) is chosen


@pytest.mark.skipif(flag_gems.runtime.device.device_count < 2, reason="needs two devices")
def test_the_launch_happens_where_the_first_tensor_is():
    run = kernel(_scale)
    for index in (1, 0, 1):
        device = torch.device(flag_gems.device, index)
        x, out = (torch.ones(16, device=device) for _ in range(2))
        run[(1,)](x, out, 16, 2.0, COUNT=1, TYPE=tl.float32)
        assert out.sum().item() == 32


def _either(p, a, b, out):
    value = tl.load(p)
    if a is not None:
        value = value * a
    if b is not None:
        value = value + b
    tl.store(out, value)


def test_which_of_two_arguments_is_missing_is_part_of_the_key():
    launched, x, out = kernel(_either), _tensor(), _tensor()
    for a, b, expected in ((2.0, None, 2), (None, 2.0, 3), (3.0, None, 3), (None, 5.0, 6)):
        launched[(1,)](x, a, b, out)
        assert out[0].item() == expected
