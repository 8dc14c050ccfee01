# SPDX-License-Identifier: Apache-2.0
"""Arguments that torch rejects are rejected as torch does, called directly and through torch."""

from __future__ import annotations

import pytest
import torch

import flag_gems

aten = torch.ops.aten


def _made(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.ones(shape, dtype=dtype, device=flag_gems.device)


CASES = {
    "softmax dim": lambda op: op.softmax(_made(2, 3), 5),
    "softmax of integers": lambda op: op.softmax(_made(2, 3, dtype=torch.int32), 1),
    "mm shapes": lambda op: op.mm(_made(2, 3), _made(2, 3)),
    "mm dtypes": lambda op: op.mm(_made(2, 3), _made(3, 2, dtype=torch.float16)),
    "addmm bias": lambda op: op.addmm(_made(7), _made(2, 3), _made(3, 4)),
    "addmm_ bias": lambda op: op.addmm_(_made(4), _made(2, 3), _made(3, 4)),
    "add shapes": lambda op: op.add(_made(2, 3), _made(4)),
    "add alpha": lambda op: op.add(_made(2, dtype=torch.int32), _made(2), alpha=True),
    "add float alpha": lambda op: op.add(
        _made(2, dtype=torch.int32), _made(2, dtype=torch.int32), alpha=0.5
    ),
    "add_ dtype": lambda op: op.add_(_made(2, dtype=torch.int32), 0.5),
    "add_ shape": lambda op: op.add_(_made(2), _made(3, 2)),
    "add_ to an expanded tensor": lambda op: op.add_(_made(1).expand(4), 1),
    "mul shapes": lambda op: op.mul(_made(2, 3), _made(4)),
    "neg of bool": lambda op: op.neg(_made(2, dtype=torch.bool)),
    "sum dim": lambda op: op.sum(_made(2, 3), [2]),
    "sum same dim twice": lambda op: op.sum(_made(2, 3), [1, -1]),
    "argmax dim": lambda op: op.argmax(_made(2, 3), 2),
    "argmax of nothing": lambda op: op.argmax(_made(0), None),
    "argmax of empty dim": lambda op: op.argmax(_made(3, 0), 1),
    "native_layer_norm shape": lambda op: op.native_layer_norm(_made(2, 3), [4], None, None, 1e-5),
}


@pytest.mark.parametrize("case", CASES)
def test_errors_are_torchs_own(case):
    with pytest.raises((RuntimeError, IndexError, NotImplementedError)) as expected:
        CASES[case](aten)
    with pytest.raises(type(expected.value)) as direct:
        CASES[case](flag_gems)
    with flag_gems.use_gems(), pytest.raises(type(expected.value)) as through_torch:
        CASES[case](aten)
    first = str(expected.value).splitlines()[0]
    assert str(direct.value).splitlines()[0] == first
    assert str(through_torch.value).splitlines()[0] == first


def test_rms_norm_says_what_does_not_fit():
    with pytest.raises(ValueError, match=r"x of shape \(2, 3\) does not end in .*\(4,\)"):
        flag_gems.rms_norm(_made(2, 3), (4,))
    with pytest.raises(ValueError, match=r"weight has shape \(2,\)"):
        flag_gems.rms_norm(_made(2, 3), 3, _made(2))
    with pytest.raises(TypeError, match=r"x is torch\.int32"):
        flag_gems.rms_norm(_made(2, 3, dtype=torch.int32), 3)


def test_overlapping_operands_of_addmm_are_torchs():
    a = torch.randn(4, 4, device=flag_gems.device)
    res, ref = a.clone(), a.clone()
    flag_gems.addmm_(res, res, res.t())
    ref.addmm_(ref, ref.t())
    torch.testing.assert_close(res, ref)
