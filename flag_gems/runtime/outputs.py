# SPDX-License-Identifier: Apache-2.0
"""What ``out=`` promises: another shape is resized, with torch's warning where that loses data."""

from __future__ import annotations

from collections.abc import Sequence

import torch


def resize(out: torch.Tensor, shape: Sequence[int]) -> torch.Tensor:
    """Gives ``out`` a shape, and warns as torch does if it had another one with elements."""
    if tuple(out.shape) != tuple(shape):
        # torch's dispatcher offers its own resize of outputs to no backend; its reference
        # implementations in Python have the same.
        from torch._prims_common.wrappers import _maybe_resize_out

        _maybe_resize_out(out, torch.Size(shape))
    return out
