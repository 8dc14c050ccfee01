# SPDX-License-Identifier: Apache-2.0
"""Layers of a language model on top of the fused operators.

from flag_gems.modules import GemsRMSNorm

norm = GemsRMSNorm(4096, device="cuda", dtype=torch.bfloat16)
x, residual = norm(x, residual)
"""

from flag_gems.modules.activation import GemsSiluAndMul
from flag_gems.modules.normalization import GemsRMSNorm
from flag_gems.modules.rotary_embedding import GemsDeepseekYarnRoPE, GemsRope

__all__ = ["GemsDeepseekYarnRoPE", "GemsRMSNorm", "GemsRope", "GemsSiluAndMul"]
