# SPDX-License-Identifier: Apache-2.0
"""One element-wise operator of ATen: promotion, result and the way to torch around a launch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from flag_gems.runtime import ledger, native
from flag_gems.runtime.geometry import is_dense
from flag_gems.runtime.memory import resize_out
from flag_gems.runtime.pointwise.launch import apply, empty_for
from flag_gems.runtime.pointwise.operands import Number, Operand, broadcast, limit, write_limit

Limit = Callable[[torch.dtype, tuple[Number, ...]], str | None]


def to_floating(dtype: torch.dtype) -> torch.dtype:
    """Integers and bool compute in the default dtype: true division, exp and their like."""
    return dtype if dtype.is_floating_point else torch.get_default_dtype()


def to_boolean(dtype: torch.dtype) -> torch.dtype:
    """The result's dtype of comparisons."""
    del dtype
    return torch.bool


def _same(dtype: torch.dtype) -> torch.dtype:
    return dtype


def _any(dtype: torch.dtype, numbers: tuple[Number, ...]) -> str | None:
    del dtype, numbers
    return None


@dataclass(frozen=True)
class Pointwise:
    """An element-wise operator of ATen.

    ``operator(key, *operands, out=None, in_place=False, numbers={}, keywords={})`` computes it; the
    rest of a call is torch's where a kernel can't do it.
    """

    function: Any
    """Jitted function of the operands and then the numbers, all in the computing dtype."""
    promote: Callable[[torch.dtype], torch.dtype] = _same
    """From torch's ``result_type`` of the operands to the dtype that is computed for."""
    result: Callable[[torch.dtype], torch.dtype] = _same
    """From the dtype that is computed for to that of a new result."""
    limit: Limit = _any
    """Why the promoted dtype with these numbers goes to torch; most often to its error."""

    def __call__(
        self,
        key: str,
        *operands: Operand,
        out: torch.Tensor | None = None,
        in_place: bool = False,
        numbers: Mapping[str, Number] | None = None,
        keywords: Mapping[str, Any] | None = None,
    ) -> torch.Tensor:
        """Computes the operator, or hands it to torch's kernel of the ATen ``key``.

        Args:
            operands: tensors and numbers; at least one tensor.
            out: written and returned where given, resized where its shape differs.
            in_place: write into the first operand.
            numbers: keyword arguments that are further arguments of ``function``.
            keywords: keyword arguments that only torch is given.
        """
        if not any(isinstance(operand, torch.Tensor) for operand in operands):
            # torch's dispatcher hands a number in a tensor to Python as the number, be it the only
            # operand.
            first, *others = operands
            assert not isinstance(first, torch.Tensor)
            operands = (torch.scalar_tensor(first), *others)
        extra = tuple(numbers.values()) if numbers else ()
        target = operands[0] if in_place else out
        reason = limit(*operands)
        if reason is None:
            dtype = self.promote(_promoted(operands))
            reason = self.limit(dtype, extra) or _number_limit(extra)
        if reason is None:
            tensors = [operand for operand in operands if isinstance(operand, torch.Tensor)]
            shape = broadcast(tensors)
            if shape is None or (in_place and shape != tensors[0].shape):
                reason = "shapes"
            elif target is not None:
                assert isinstance(target, torch.Tensor)
                reason = write_limit(target, tensors, self.result(dtype), in_place)
                if reason is None and target.device != _place(tensors).device:
                    reason = "devices"
        if reason is not None:
            named = {**(numbers or {}), **(keywords or {})}
            if out is not None:
                named["out"] = out
            return native.call(key, reason, *operands, **named)
        ledger.record(key, "gems")
        assert shape is not None
        placed = _placed(operands, tensors)
        if target is None:
            target = _new(shape, self.result(dtype), tensors)
        assert isinstance(target, torch.Tensor)
        if not in_place:
            resize_out(target, shape)
        apply(self.function, (*placed, *extra), target, dtype)
        return target


def _promoted(operands: tuple[Operand, ...]) -> torch.dtype:
    first = operands[0]
    if len(operands) == 1:
        assert isinstance(first, torch.Tensor)
        return first.dtype
    second = operands[1]
    if isinstance(first, torch.Tensor):
        if isinstance(second, torch.Tensor):
            if first.dtype is second.dtype:
                return first.dtype
        elif first.dtype.is_floating_point or (
            type(second) is int and first.dtype is not torch.bool
        ):
            return first.dtype
    return torch.result_type(first, second)


def _number_limit(numbers: tuple[Number, ...]) -> str | None:
    return None if all(isinstance(n, bool | int | float) for n in numbers) else "complex number"


def _place(tensors: list[torch.Tensor]) -> torch.Tensor:
    """A tensor on the library's device: the first that has dimensions or is not on the CPU."""
    for tensor in tensors:
        if tensor.device.type != "cpu" or len(tensors) == 1:
            return tensor
    return tensors[0]


def _placed(operands: tuple[Operand, ...], tensors: list[torch.Tensor]) -> tuple[Operand, ...]:
    """The operands, a tensor of the CPU beside those of another device as a number."""
    if len(tensors) == 1 or all(tensor.device == tensors[0].device for tensor in tensors[1:]):
        return operands
    place = _place(tensors).device
    return tuple(
        operand.item() if isinstance(operand, torch.Tensor) and operand.device != place else operand
        for operand in operands
    )


def _new(shape: torch.Size, dtype: torch.dtype, tensors: list[torch.Tensor]) -> torch.Tensor:
    if 0 in shape:
        return torch.empty(shape, dtype=dtype, device=_place(tensors).device)
    if len(tensors) == 1:
        if is_dense(tensors[0]):
            return torch.empty_like(tensors[0], dtype=dtype)
        return empty_for(shape, dtype, tensors)
    place = _place(tensors)
    sized = [tensor.expand(shape) for tensor in tensors if tensor.device == place.device]
    if sized[0].is_contiguous() or not is_dense(sized[0]) or len(sized) > 1:
        return empty_for(shape, dtype, sized)
    return torch.empty_like(sized[0], dtype=dtype)
