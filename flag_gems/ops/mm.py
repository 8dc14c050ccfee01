# SPDX-License-Identifier: Apache-2.0
"""The product of two matrices."""

from __future__ import annotations

import torch

from flag_gems.ops import matmul
from flag_gems.runtime import ledger, native


def mm(input: torch.Tensor, mat2: torch.Tensor) -> torch.Tensor:
    """``input @ mat2``: [M, K] by [K, N], any strides; forward only.

    float16 and bfloat16 are summed in float32. float32 is exact unless
    ``torch.backends.cuda.matmul.allow_tf32`` is set. Integers and complex numbers go to torch.

    Raises:
        RuntimeError: whatever torch raises for shapes, dtypes or devices that do not fit together.
    """
    reason = matmul.limit(input, mat2)
    if reason is not None:
        return native.call("mm", reason, input, mat2)
    ledger.record("mm", "gems")
    out = input.new_empty((input.shape[0], mat2.shape[1]))
    _fill(out, input, mat2)
    return out


def mm_out(input: torch.Tensor, mat2: torch.Tensor, *, out: torch.Tensor) -> torch.Tensor:
    """:func:`mm` into ``out``, resized where its shape differs.

    Raises:
        RuntimeError: whatever torch raises for arguments that do not fit together.
    """
    reason = matmul.limit(input, mat2)
    if reason is None and (out.dtype != input.dtype or out.device != input.device):
        reason = "out of another kind"
    if reason is not None:
        return native.call("mm.out", reason, input, mat2, out=out)
    result = mm(input, mat2)
    if out.shape != result.shape:
        out.resize_(result.shape)
    return out.copy_(result)


def _fill(out: torch.Tensor, input: torch.Tensor, mat2: torch.Tensor) -> None:
    if not out.numel():
        return
    if input.shape[1] == 0:
        out.zero_()
    else:
        matmul.launch(input, mat2, out)
