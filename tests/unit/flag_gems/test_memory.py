# SPDX-License-Identifier: Apache-2.0
"""Tensors whose memory is not their values: negative bit, sparse layouts, other devices."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

import flag_gems
from flag_gems import runtime

aten = torch.ops.aten


def _negative(*shape: int) -> torch.Tensor:
    """A view with the negative bit, of different values."""
    generator = torch.Generator().manual_seed(5)
    made = torch.randn((*shape, 2), generator=generator).to(flag_gems.device)
    view = torch.view_as_complex(made).conj().imag
    assert view.is_neg()
    return view


def _rows(*shape: int) -> torch.Tensor:
    return torch.linspace(-1, 2, shape[0] * shape[1]).view(shape).to(flag_gems.device)


NEGATIVE = {
    "add": (lambda x: flag_gems.add(x, 1.5), lambda x: x + 1.5),
    "add to a number": (lambda x: flag_gems.add(1.5, x), lambda x: 1.5 + x),
    "add as second": (lambda x: flag_gems.add(_rows(3, 5), x), lambda x: _rows(3, 5) + x),
    "add of no dimensions": (
        lambda x: flag_gems.add(_rows(3, 5), x[0, 0]),
        lambda x: _rows(3, 5) + x[0, 0],
    ),
    "add_": (lambda x: flag_gems.add_(x, 1.5), lambda x: x + 1.5),
    "mul": (lambda x: flag_gems.mul(x, 3), lambda x: x * 3),
    "mul_": (lambda x: flag_gems.mul_(x, 3), lambda x: x * 3),
    "abs_": (lambda x: flag_gems.abs_(x), lambda x: x.abs()),
    "neg": (lambda x: flag_gems.neg(x), lambda x: -x),
    "neg_": (lambda x: flag_gems.neg_(x), lambda x: -x),
    "sum": (lambda x: flag_gems.sum(x), lambda x: x.sum()),
    "sum of a dim": (lambda x: flag_gems.sum(x, 1), lambda x: x.sum(1)),
    "argmax": (lambda x: flag_gems.argmax(x, 1), lambda x: x.argmax(1)),
    "softmax": (lambda x: flag_gems.softmax(x, 1), lambda x: x.softmax(1)),
    "softmax_backward": (
        lambda x: flag_gems.softmax_backward(x, _rows(3, 5), 1, x.dtype),
        lambda x: aten._softmax_backward_data(x, _rows(3, 5), 1, x.dtype),
    ),
    "layer_norm": (
        lambda x: flag_gems.layer_norm(_rows(3, 5), 5, x[0]),
        lambda x: F.layer_norm(_rows(3, 5), (5,), x[0]),
    ),
    "rms_norm": (
        lambda x: flag_gems.rms_norm(_rows(3, 5), 5, x[0]),
        lambda x: F.rms_norm(_rows(3, 5), (5,), x[0], 1e-5),
    ),
    "mm": (lambda x: flag_gems.mm(x, _rows(5, 2)), lambda x: x @ _rows(5, 2)),
    "mm as second": (lambda x: flag_gems.mm(_rows(2, 3), x), lambda x: _rows(2, 3) @ x),
    "addmm": (
        lambda x: flag_gems.addmm(x, _rows(3, 2), _rows(2, 5)),
        lambda x: x + _rows(3, 2) @ _rows(2, 5),
    ),
    "addmm_": (
        lambda x: flag_gems.addmm_(x, _rows(3, 2), _rows(2, 5)),
        lambda x: x + _rows(3, 2) @ _rows(2, 5),
    ),
}


@pytest.mark.parametrize("case", NEGATIVE)
def test_negative_bit_is_honoured(case):
    direct, reference = NEGATIVE[case]
    expected = reference(_negative(3, 5).resolve_neg())
    before = runtime.calls()
    torch.testing.assert_close(direct(_negative(3, 5)).resolve_neg(), expected)
    assert {call.how for call in runtime.calls() - before} >= {"native"}


@pytest.mark.parametrize("case", ["add", "softmax", "sum", "mm"])
def test_negative_bit_through_torch(case):
    _, reference = NEGATIVE[case]
    expected = reference(_negative(3, 5).resolve_neg())
    with flag_gems.use_gems() as gems:
        res = reference(_negative(3, 5))
    assert gems.calls
    torch.testing.assert_close(res, expected)


@pytest.mark.parametrize("operator", ["rms_norm", "softmax", "layer_norm"])
def test_gradient_with_the_negative_bit(operator):
    def pair(x):
        shape = (x.shape[-1],)
        return {
            "rms_norm": (lambda: flag_gems.rms_norm(x, shape), lambda: F.rms_norm(x, shape)),
            "softmax": (lambda: flag_gems.softmax(x, -1), lambda: x.softmax(-1)),
            "layer_norm": (lambda: flag_gems.layer_norm(x, shape), lambda: F.layer_norm(x, shape)),
        }[operator]

    x = _rows(3, 5).requires_grad_()
    direct, reference = pair(x)
    (res,) = torch.autograd.grad(direct(), x, _negative(3, 5))
    (ref,) = torch.autograd.grad(reference(), x, _negative(3, 5).resolve_neg())
    # F.rms_norm's eps is that of the dtype where none is given, 1e-7 against 1e-5.
    torch.testing.assert_close(res, ref, rtol=1e-4, atol=1e-4)


def _eye(layout: str) -> torch.Tensor:
    dense = torch.eye(4, device=flag_gems.device)
    return dense.to_sparse_csr() if layout == "csr" else dense.to_sparse()


OTHER_FORMS = {
    "mm of csr": (lambda op: op.mm(_eye("csr"), _rows(4, 3)), True),
    "mm of coo": (lambda op: op.mm(_eye("coo"), _rows(4, 3)), True),
    "mm with csr": (lambda op: op.mm(_rows(3, 4), _eye("csr")), True),
    "addmm with csr": (lambda op: op.addmm(_rows(4, 3), _eye("csr"), _rows(4, 3)), True),
    "addmm of coo": (lambda op: op.addmm(_eye("coo"), _rows(4, 4), _rows(4, 4)), False),
    "addmm_ of coo": (lambda op: op.addmm_(_eye("coo"), _rows(4, 4), _rows(4, 4)), False),
    "add of coo": (lambda op: op.add(_eye("coo"), _eye("coo")), True),
    "sum of coo": (lambda op: op.sum(_eye("coo")), True),
    "argmax of coo": (lambda op: op.argmax(_eye("coo")), False),
    "softmax of coo": (lambda op: op.softmax(_eye("coo"), 1), False),
    "layer_norm of coo": (
        lambda op: op.native_layer_norm(_eye("coo"), [4], None, None, 1e-5),
        False,
    ),
    "rms_norm of coo": (lambda op: op.rms_norm(_eye("coo"), [4], None, 1e-5), False),
    "softmax of meta": (lambda op: op.softmax(_eye("coo").to_dense().to("meta"), 1), True),
    "rms_norm of meta": (
        lambda op: op.rms_norm(_rows(3, 4).to("meta"), [4], None, 1e-5),
        True,
    ),
    "layer_norm of meta": (
        lambda op: op.native_layer_norm(_rows(3, 4).to("meta"), [4], None, None, 1e-5)[0],
        True,
    ),
}


@pytest.mark.parametrize("case", [name for name, (_, answers) in OTHER_FORMS.items() if answers])
def test_other_layouts_and_devices_are_torchs(case):
    call, _ = OTHER_FORMS[case]
    expected, res = call(aten), call(flag_gems)
    assert (res.layout, res.device) == (expected.layout, expected.device)
    if res.device.type != "meta":
        torch.testing.assert_close(res.to_dense(), expected.to_dense())
    else:
        assert (res.shape, res.dtype) == (expected.shape, expected.dtype)


@pytest.mark.parametrize(
    "case", [name for name, (_, answers) in OTHER_FORMS.items() if not answers]
)
def test_what_torch_refuses_is_its_own_error(case):
    call, _ = OTHER_FORMS[case]
    with pytest.raises((RuntimeError, NotImplementedError)) as expected:
        call(aten)
    with pytest.raises(type(expected.value)) as caught:
        call(flag_gems)
    assert str(caught.value).splitlines()[0] == str(expected.value).splitlines()[0]
