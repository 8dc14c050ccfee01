# SPDX-License-Identifier: Apache-2.0
"""Operators that ATen has, one file a family: kernel and wrapper together."""

from flag_gems.fused.flash_attention import flash_attn_varlen_func, flash_attn_varlen_opt_func
from flag_gems.ops.div import div_mode, div_mode_

__all__ = ["div_mode", "div_mode_", "flash_attn_varlen_func", "flash_attn_varlen_opt_func"]
