# SPDX-License-Identifier: Apache-2.0
"""Triton's IR as Python objects, read from MLIR's generic text form.

Text, because the Python bindings cannot walk operations, attributes and types alike in every
Triton version, and the generic form is the same in all of them.
"""

from triton_cpu.ttir.operation import Block, Function, Module, Operation
from triton_cpu.ttir.parse import ParseError, parse
from triton_cpu.ttir.types import MlirType

__all__ = ["Block", "Function", "MlirType", "Module", "Operation", "ParseError", "parse"]
