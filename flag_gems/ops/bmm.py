# SPDX-License-Identifier: Apache-2.0
"""The products of two batches of matrices."""

from __future__ import annotations

import torch

from flag_gems.ops import matmul
from flag_gems.ops.matmul_tuning import TUNING as TUNING
from flag_gems.runtime import ledger, native


def bmm(input: torch.Tensor, mat2: torch.Tensor) -> torch.Tensor:
    """``input @ mat2``: [B, M, K] by [B, K, N], any strides; differentiable. As :func:`mm`.

    Raises:
        RuntimeError: whatever torch raises for shapes, dtypes or devices that do not fit together.
    """
    reason = matmul.limit(input, mat2, 3)
    if reason is not None:
        return native.call("bmm", reason, input, mat2)
    ledger.record("bmm", "gems")
    return matmul.compute(input, mat2)


def bmm_out(input: torch.Tensor, mat2: torch.Tensor, *, out: torch.Tensor) -> torch.Tensor:
    """:func:`bmm` into ``out``, resized where its shape differs.

    Raises:
        RuntimeError: whatever torch raises for arguments that do not fit together.
    """
    reason = matmul.limit(input, mat2, 3) or matmul.out_limit(out, input, mat2)
    if reason is not None:
        return native.call("bmm.out", reason, input, mat2, out=out)
    ledger.record("bmm.out", "gems")
    return matmul.compute_into(out, input, mat2)
