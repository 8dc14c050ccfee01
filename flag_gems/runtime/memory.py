# SPDX-License-Identifier: Apache-2.0
"""Whether kernels may read the memory of a tensor as it lies there.

A kernel gets an address and strides. A sparse tensor has neither, and a tensor with the negative
bit (``z.conj().imag``) holds its values with the opposite sign. torch's dispatcher resolves that
before it calls a kernel; a function of Gems that is called directly has to look for itself.
"""

from __future__ import annotations

import torch

from flag_gems.runtime import device


def form_limit(tensor: torch.Tensor) -> str | None:
    """Why ``tensor``, on whichever device, is not its memory read by strides, or None."""
    if tensor.layout is not torch.strided:
        return f"layout {tensor.layout}"
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
