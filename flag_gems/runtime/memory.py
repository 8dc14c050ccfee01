# SPDX-License-Identifier: Apache-2.0
"""Whether kernels may read the memory of a tensor as it lies there.

A kernel gets an address and strides. A sparse tensor has neither, and a tensor with the negative
bit (``z.conj().imag``) holds its values with the opposite sign. torch's dispatcher resolves that
before it calls a kernel; a function of Gems that is called directly has to look for itself.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import torch

from flag_gems.runtime import device


def form_limit(tensor: torch.Tensor) -> str | None:
    """Why ``tensor``, on whichever device, is not its memory read by strides, or None."""
    if tensor.layout is not torch.strided:
        return f"layout {tensor.layout}"
    # A compiled graph calls through torch's dispatcher, which resolves the bit.
    if torch.compiler.is_compiling():
        return None
    return "negative bit" if tensor.is_neg() else None


def limit(first: torch.Tensor, *others: torch.Tensor | None) -> str | None:
    """Why kernels can't read these tensors, which belong on one device, or None."""
    if first.device.type != device.name:
        return "devices"
    reason = form_limit(first)
    for tensor in others:
        if tensor is not None and reason is None:
            reason = "devices" if tensor.device != first.device else form_limit(tensor)
    return reason


def resize_out(out: torch.Tensor, shape: Sequence[int]) -> torch.Tensor:
    """Gives ``out`` the shape of the result that goes into it, as torch does for ``out=``.

    Warns as torch does where elements are thrown away.
    """
    if out.shape != torch.Size(shape):
        if out.numel():
            warnings.warn(
                "An output with one or more elements was resized since it had shape "
                f"{list(out.shape)}, which does not match the required output shape {list(shape)}. "
                "This behavior is deprecated, and in a future PyTorch release outputs will not be "
                "resized unless they have zero elements. You can explicitly reuse an out tensor t "
                "by resizing it, inplace, to zero elements with t.resize_(0).",
                UserWarning,
                stacklevel=3,
            )
        out.resize_(shape)
    return out
