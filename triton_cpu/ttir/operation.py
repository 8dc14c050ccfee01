# SPDX-License-Identifier: Apache-2.0
"""Operations, blocks and functions of a TTIR module."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from triton_cpu.ttir.types import MlirType

_INTEGER = re.compile(r"-?\d+")


@dataclass(eq=False, slots=True)
class Operation:
    """One operation. Attributes stay text until somebody asks for one."""

    name: str
    results: list[str]
    operands: list[str]
    attributes: dict[str, str]
    operand_types: tuple[MlirType, ...] = ()
    result_types: tuple[MlirType, ...] = ()
    regions: list[list[Block]] = field(default_factory=list)
    successors: list[str] = field(default_factory=list)
    location: str = ""
    """file:line, where the text carries locations."""

    def integer(self, name: str, default: int | None = None) -> int:
        """An integer attribute; KeyError when it is absent and has no default."""
        text = self.attributes.get(name)
        if text is None:
            if default is None:
                raise KeyError(f"{self.name} has no attribute {name}")
            return default
        if text in ("true", "false"):
            return int(text == "true")
        found = _INTEGER.match(text)
        if found is None:
            raise ValueError(f"{self.name}: {name} = {text} is no integer")
        return int(found[0])

    def integers(self, name: str) -> list[int]:
        """An ``array<i32: ...>`` attribute; empty when absent."""
        text = self.attributes.get(name, "")
        return [int(item) for item in _INTEGER.findall(text.partition(":")[2])]

    def flag(self, name: str) -> bool:
        """A unit or boolean attribute."""
        return self.attributes.get(name, "false") not in ("false",)

    def text(self, name: str, default: str = "") -> str:
        """A string attribute without its quotes and escapes."""
        text = self.attributes.get(name)
        if text is None:
            return default
        body = text[1:-1] if text.startswith('"') else text
        return re.sub(
            r"\\(?:([0-9A-Fa-f]{2})|(.))",
            lambda match: chr(int(match[1], 16)) if match[1] else match[2].replace("n", "\n"),
            body,
        )

    def walk(self) -> Iterator[Operation]:
        """This operation and all inside it."""
        yield self
        for region in self.regions:
            for block in region:
                for operation in block.operations:
                    yield from operation.walk()


@dataclass(eq=False, slots=True)
class Block:
    label: str
    arguments: list[str]
    argument_types: list[MlirType]
    operations: list[Operation]


@dataclass(eq=False, slots=True)
class Function:
    name: str
    public: bool
    blocks: list[Block]
    uses: dict[str, list[Operation]]
    """The operations that read each value, nested ones included."""


@dataclass(eq=False, slots=True)
class Module:
    functions: dict[str, Function]

    @property
    def entry(self) -> Function:
        """The kernel: the public function."""
        public = [function for function in self.functions.values() if function.public]
        if len(public) != 1:
            raise ValueError(f"a kernel module has one public function, this one {len(public)}")
        return public[0]
