# SPDX-License-Identifier: Apache-2.0
"""Types as TTIR writes them, and the LLVM type that holds one element."""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

from triton_cpu.llvm.emit import BF16, F16, F32, F64, I8, I64, PTR, Type

FP8_KINDS = {
    "f8E4M3FN": "fp8e4nv",
    "f8E5M2": "fp8e5",
    "f8E4M3B11FNUZ": "fp8e4b15",
    "f8E4M3FNUZ": "fp8e4b8",
    "f8E5M2FNUZ": "fp8e5b16",
}
"""MLIR's names of the eight-bit floating types and Triton's."""

_SCALARS = {"f32": F32, "f64": F64, "f16": F16, "bf16": BF16, "index": I64}
_TENSOR = re.compile(r"tensor<((?:\d+x)*)(.*)>$", re.DOTALL)
_POINTER = re.compile(r"!tt\.ptr<(.*?)(?:, \d+)?>$")


class MlirType(NamedTuple):
    """``shape`` None is a scalar; ``element`` is MLIR's word for one element."""

    shape: tuple[int, ...] | None
    element: str

    @property
    def scalar(self) -> Type:
        """The LLVM type of one element; eight-bit floats are held as i8."""
        return scalar_type(self.element)

    @property
    def fp8(self) -> str | None:
        """Triton's name of an eight-bit floating type, None for other elements."""
        return FP8_KINDS.get(self.element)

    @property
    def pointee(self) -> MlirType:
        """What a pointer (or a tensor of them) points to."""
        match = _POINTER.match(self.element)
        if match is None:
            raise TypeError(f"{self.element} is not a pointer")
        return parse_type(match[1])


@functools.cache
def scalar_type(element: str) -> Type:
    """Raises TypeError for what LLVM has no scalar for."""
    if element in _SCALARS:
        return _SCALARS[element]
    if element.startswith("!tt.ptr"):
        return PTR
    if element in FP8_KINDS:
        return I8
    if re.fullmatch(r"[su]?i\d+", element):
        return Type("i" + element.split("i")[1])
    raise TypeError(f"no machine type for {element}")


@functools.cache
def parse_type(text: str) -> MlirType:
    text = text.strip()
    match = _TENSOR.match(text)
    if match is None:
        return MlirType(None, text)
    shape = tuple(int(size) for size in match[1][:-1].split("x")) if match[1] else ()
    return MlirType(shape, match[2].split(", #")[0])
