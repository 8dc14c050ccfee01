# SPDX-License-Identifier: Apache-2.0
"""Wrong in one dtype: takes every 16-bit input for bfloat16, so float16 loses three bits."""

import torch


def rms_norm(x, normalized_shape, weight=None, eps=1e-5):
    if x.dtype.itemsize == 2:
        x, dtype = x.to(torch.bfloat16), x.dtype
        weight = None if weight is None else weight.to(torch.bfloat16)
        return torch.nn.functional.rms_norm(x, normalized_shape, weight, eps).to(dtype)
    return torch.nn.functional.rms_norm(x, normalized_shape, weight, eps)
