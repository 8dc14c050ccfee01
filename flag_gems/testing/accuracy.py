# SPDX-License-Identifier: Apache-2.0
"""How close an operator's result must be to its reference, and how a reference is made.

The reference is computed in float64, so that the whole difference is the operator's own error. The
table accepts of that the rounding to the result's dtype and the growth along a reduction.
"""

from __future__ import annotations

import math

import torch

from flag_gems.testing.plugin.options import options

RESOLUTION: dict[torch.dtype, float] = {
    # One or two units in the last place of a result that was rounded once, from float32.
    torch.float16: 1e-3,  # 2**-10 is 9.8e-4
    torch.bfloat16: 0.016,  # two of 2**-7: operators often round an intermediate as well
    # Ten units: exp, rsqrt and reciprocals of a GPU's special function units are good to 2 or 3,
    # and an operator chains some of them.
    torch.float32: 1.3e-6,  # 2**-23 is 1.2e-7
    # Far above 2**-52, as device and host libraries differ, and far below any use of float32.
    torch.float64: 1e-7,
    torch.complex32: 1e-3,
    torch.complex64: 1.3e-6,
    torch.complex128: 1e-7,
    # Exact.
    torch.bool: 0.0,
    torch.uint8: 0.0,
    torch.int8: 0.0,
    torch.int16: 0.0,
    torch.int32: 0.0,
    torch.int64: 0.0,
}
"""Relative tolerance of each dtype."""


def tolerance(dtype: torch.dtype, reduce_dim: int = 1, atol: float = 1e-4) -> tuple[float, float]:
    """`(rtol, atol)` for a result of `dtype` that summed `reduce_dim` terms of magnitude about 1.

    The absolute part grows with the square root of the length: rounding errors of a sum behave like
    independent steps (Higham, Accuracy and Stability of Numerical Algorithms, section 4.2), while
    the worst case, which is linear, would accept nearly anything at a length of some thousands.

    Raises:
        ValueError: no tolerance is defined for the dtype, or `reduce_dim` is below 1.
    """
    if dtype not in RESOLUTION:
        raise ValueError(f"no tolerance is defined for {dtype}")
    if reduce_dim < 1:
        raise ValueError(f"reduce_dim must be at least 1, not {reduce_dim}")
    rtol = RESOLUTION[dtype]
    return rtol, atol * math.sqrt(reduce_dim) if rtol else 0.0


def assert_close(
    res: torch.Tensor,
    ref: torch.Tensor,
    dtype: torch.dtype,
    equal_nan: bool = False,
    reduce_dim: int = 1,
    atol: float = 1e-4,
) -> None:
    """Hold an operator's result against its reference.

    Args:
        res: the result, of dtype `dtype`.
        ref: the reference, of the same shape; rounded to `dtype` before comparing, so that values
            beyond its range are infinite on both sides.
        dtype: what the operator promises.
        equal_nan: whether NaN equals NaN.
        reduce_dim: number of terms that were summed into each element; see `tolerance`.
        atol: absolute tolerance of one term.

    Raises:
        AssertionError: dtype, shape or a value differs; the message counts and locates.
    """
    if res.dtype != dtype:
        raise AssertionError(f"the result has dtype {res.dtype}, expected {dtype}")
    rtol, absolute = tolerance(dtype, reduce_dim, atol)
    wide = _wide(dtype)
    torch.testing.assert_close(
        res.detach().to(ref.device).to(wide),
        ref.detach().to(dtype).to(wide),
        rtol=rtol,
        atol=absolute,
        equal_nan=equal_nan,
    )


def assert_equal(res: torch.Tensor, ref: torch.Tensor, equal_nan: bool = False) -> None:
    """Hold a result against its reference bit for bit (apart from the signs of zero and NaN).

    Raises:
        AssertionError: dtype, shape or a value differs.
    """
    torch.testing.assert_close(
        res.detach().to(ref.device), ref.detach(), rtol=0, atol=0, equal_nan=equal_nan
    )


def to_reference(tensor: torch.Tensor | None, upcast: bool = False) -> torch.Tensor | None:
    """A copy for computing the reference: on the reference device and, with `upcast`, in float64.

    It shares no memory with `tensor` (an operator that writes to its input cannot change it) and
    requires grad when `tensor` does. `upcast` leaves integers and booleans as they are and makes
    complex numbers complex128; it moves to the host where the device has no float64.
    """
    if tensor is None:
        return None
    import flag_gems

    target = tensor.dtype
    if upcast and target.is_complex:
        target = torch.complex128
    elif upcast and target.is_floating_point:
        target = torch.float64
    host = options.reference == "cpu" or (
        target != tensor.dtype and not flag_gems.runtime.device.support_fp64
    )
    copy = tensor.detach().to("cpu" if host else tensor.device).to(target, copy=True)
    return copy.requires_grad_(tensor.requires_grad)


def _wide(dtype: torch.dtype) -> torch.dtype:
    if dtype.is_complex:
        return torch.complex128
    return torch.float64 if dtype.is_floating_point else dtype
