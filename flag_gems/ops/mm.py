# SPDX-License-Identifier: Apache-2.0
"""The product of two matrices."""

from __future__ import annotations

import torch

from flag_gems.ops import matmul
from flag_gems.ops.matmul_tuning import TUNING as TUNING
from flag_gems.runtime import ledger, native


def mm(input: torch.Tensor, mat2: torch.Tensor) -> torch.Tensor:
    """``input @ mat2``: [M, K] by [K, N], any strides; differentiable.

    float16 and bfloat16 are summed in float32. float32 keeps its precision unless
    ``torch.backends.cuda.matmul.allow_tf32`` is set. Integers and complex numbers go to torch.

    Raises:
        RuntimeError: whatever torch raises for shapes, dtypes or devices that do not fit together.
    """
    reason = matmul.limit(input, mat2)
    if reason is not None:
        return native.call("mm", reason, input, mat2)
    ledger.record("mm", "gems")
    return matmul.compute(input, mat2)


def mm_out(input: torch.Tensor, mat2: torch.Tensor, *, out: torch.Tensor) -> torch.Tensor:
    """:func:`mm` into ``out``, resized where its shape differs.

    Raises:
        RuntimeError: whatever torch raises for arguments that do not fit together.
    """
    reason = matmul.limit(input, mat2) or matmul.out_limit(out, input, mat2)
    if reason is not None:
        return native.call("mm.out", reason, input, mat2, out=out)
    ledger.record("mm.out", "gems")
    return matmul.compute_into(out, input, mat2)
