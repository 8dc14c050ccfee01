# SPDX-License-Identifier: Apache-2.0
"""What ``triton.language.extra.libdevice`` means in a kernel compiled for the CPU.

The wheel's own tables choose a symbol by argument types; triton_cpu.math.FUNCTIONS has an
implementation under each of these symbols. Added is what the wheel names and NVIDIA's table lacks,
and the conversion of the one fp8 kind that Triton leaves to back ends.
"""

from __future__ import annotations

from typing import Any

from triton.language import core
from triton.language.extra.cuda.libdevice import *  # noqa: F403


def _call(arguments: list[Any], table: dict[Any, Any], semantic: Any) -> Any:
    return core.extern_elementwise("", "", arguments, table, is_pure=True, _semantic=semantic)


@core.extern
def fast_tanhf(arg0, _semantic=None):
    table = {(core.float32,): ("__nv_fast_tanhf", core.float32)}
    return _call([arg0], table, _semantic)


@core.builtin
def convert_custom_float8(arg, dst_ty, fp_downcast_rounding=None, _semantic=None):
    """fp8e4b15 to and from other floats: the code generator function "convert_custom_types".

    Args:
        arg: a tensor or a scalar; either it or ``dst_ty`` is fp8e4b15.
        fp_downcast_rounding: Triton's rounding mode, or None for the nearest.
    """
    target = dst_ty.scalar
    if arg.type.scalar.is_fp8e4b15():
        table = {(core.float8e4b15,): ("triton_cpu_fp8e4b15_to_half", core.float16)}
        return _semantic.cast(_call([arg], table, _semantic), target)
    source = core.float64 if arg.type.scalar.is_fp64() else core.float32
    wide = _semantic.cast(arg, source)
    symbol = "triton_cpu_to_fp8e4b15"
    if fp_downcast_rounding is not None and "RTZ" in str(fp_downcast_rounding):
        symbol += "_rtz"
    return _call([wide], {(source,): (symbol, target)}, _semantic)
