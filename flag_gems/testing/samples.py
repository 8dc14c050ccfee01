# SPDX-License-Identifier: Apache-2.0
"""torch's own samples of an operator (OpInfo), run through Gems and held against float64.

Apart, because only tests have what torch's test modules import.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterator
from typing import Any

import torch

import flag_gems
from flag_gems.testing.accuracy import assert_close, assert_equal


@functools.cache
def _info(name: str, variant: str) -> Any:
    from torch.testing._internal.common_methods_invocations import op_db

    (found,) = (info for info in op_db if (info.name, info.variant_test_name) == (name, variant))
    return found


def _mapped(value: Any, change: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, list | tuple):
        return type(value)(_mapped(one, change) for one in value)
    if isinstance(value, dict):
        return {key: _mapped(one, change) for key, one in value.items()}
    return value


def _detached(tensor: torch.Tensor) -> torch.Tensor:
    """The values in float64, in the same memory order."""
    wide = tensor.detach()
    return wide.double() if wide.is_floating_point() else wide.clone()


def _values(result: Any) -> Iterator[torch.Tensor]:
    yield from (result,) if isinstance(result, torch.Tensor) else result


def check(
    name: str,
    dtype: torch.dtype,
    include: list[str],
    variant: str = "",
    references: bool = False,
    reduce_dim: int = 1,
    skip: Any = None,
) -> None:
    """Runs every sample of an OpInfo inside ``use_gems(include=include)``.

    Dtype, shape and strides must be torch's for the same arguments, values those of the operator in
    float64. In place, the operator is run where the sample allows it.

    Args:
        name, variant: as torch's operator database has them.
        dtype: of the samples.
        references: also the larger set of samples by which torch checks its references.
        reduce_dim: terms of a sum in the samples; see ``tolerance``.
        skip: predicate over a sample: true leaves it out.
    """
    info = _info(name, variant)
    source = info.reference_inputs if references else info.sample_inputs
    checked = 0
    for sample in source(flag_gems.device, dtype):
        if skip is not None and skip(sample):
            continue
        given = (sample.input, *sample.args)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            like = info.op(*given, **sample.kwargs)
            wide = info.op(*_mapped(given, _detached), **_mapped(sample.kwargs, _detached))
            with flag_gems.use_gems(include=include):
                got = info.op(*given, **sample.kwargs)
            _compare(got, like, wide, reduce_dim, sample)
            _in_place(info, include, sample, like, wide, reduce_dim)
        checked += 1
    assert checked, f"{name} has no samples of {dtype}"


def _compare(got: Any, like: Any, wide: Any, reduce_dim: int, sample: Any) -> None:
    for one, native, exact in zip(_values(got), _values(like), _values(wide), strict=True):
        assert one.shape == native.shape, sample
        # What torch gives nothing as strides depends on how it came there.
        if native.numel():
            assert one.stride() == native.stride(), (one.stride(), native.stride(), sample)
        if native.dtype.is_floating_point:
            assert_close(one, exact, native.dtype, equal_nan=True, reduce_dim=reduce_dim)
        else:
            assert_equal(one, native)


def _in_place(
    info: Any, include: list[str], sample: Any, like: Any, wide: Any, reduce_dim: int
) -> None:
    method = info.inplace_variant
    if (
        method is None
        or not isinstance(like, torch.Tensor)
        or not isinstance(sample.input, torch.Tensor)
    ):
        return
    target = sample.input.detach().clone()
    if target.shape != like.shape or not torch.can_cast(like.dtype, target.dtype):
        return
    with flag_gems.use_gems(include=include):
        got = method(target, *sample.args, **sample.kwargs)
    assert got is target
    if target.dtype.is_floating_point:
        assert_close(got, wide, target.dtype, equal_nan=True, reduce_dim=reduce_dim)
    else:
        assert_equal(got, like.to(target.dtype))
