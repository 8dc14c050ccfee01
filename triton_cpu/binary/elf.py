# SPDX-License-Identifier: Apache-2.0
"""Reads the relocatable ELF objects that LLVM writes (System V ABI; 64-bit, little-endian)."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

MACHINES = {62: "x86_64", 183: "aarch64"}

SECTION_HEADER = struct.Struct("<IIQQQQIIQQ")
SYMBOL = struct.Struct("<IBBHQQ")
RELA = struct.Struct("<QQq")
_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")

PROGBITS, SYMTAB, STRTAB, RELOCATIONS, HASH, DYNAMIC, NOBITS, DYNSYM = 1, 2, 3, 4, 5, 6, 8, 11
WRITE, ALLOC, EXECUTE = 1, 2, 4
GLOBAL, WEAK = 1, 2
UNDEFINED, ABSOLUTE, COMMON = 0, 0xFFF1, 0xFFF2
DEFAULT_VISIBILITY = 0


class UnsupportedObject(RuntimeError):
    """The object holds something that kernels never need and the linker does not know."""


@dataclass
class Section:
    """One section as it stands in the object."""

    name: str
    kind: int
    flags: int
    alignment: int
    size: int
    data: bytes
    """Empty for zero-filled sections, whose ``size`` counts all the same."""


@dataclass(frozen=True)
class Symbol:
    """One entry of the symbol table."""

    name: str
    section: int
    """Index of the section that defines it; UNDEFINED for one from elsewhere."""
    value: int
    size: int
    kind: int
    binding: int
    visibility: int

    @property
    def is_undefined(self) -> bool:
        return self.section == UNDEFINED

    @property
    def is_left_to_loader(self) -> bool:
        """Whether the name is bound at load time: a weak definition is only a default."""
        return self.is_undefined or (self.is_exported and self.binding == WEAK)

    @property
    def is_exported(self) -> bool:
        return (
            not self.is_undefined
            and self.binding in (GLOBAL, WEAK)
            and self.visibility == DEFAULT_VISIBILITY
        )


@dataclass(frozen=True)
class Relocation:
    """A place in a section that must come to hold an address."""

    section: int
    offset: int
    kind: int
    symbol: int
    addend: int


@dataclass
class Object:
    """A relocatable object."""

    machine: str
    sections: dict[int, Section] = field(default_factory=dict)
    """Those that are loaded, by their index."""
    symbols: list[Symbol] = field(default_factory=list)
    relocations: list[Relocation] = field(default_factory=list)


def read_object(data: bytes) -> Object:
    """Parses an object file.

    Raises:
        UnsupportedObject: not a 64-bit little-endian relocatable object of a known machine.
    """
    header = _HEADER.unpack_from(data)
    ident, kind, machine = header[0], header[1], header[2]
    if ident[:6] != b"\x7fELF\x02\x01" or kind != 1 or machine not in MACHINES:
        raise UnsupportedObject("not a relocatable ELF object for x86-64 or aarch64")
    start, count, names_at = header[6], header[12], header[13]
    raw = [SECTION_HEADER.unpack_from(data, start + 64 * i) for i in range(count)]

    def content(index: int) -> bytes:
        return data[raw[index][4] : raw[index][4] + raw[index][5]]

    names = content(names_at)
    result = Object(MACHINES[machine])
    for index, (name, kind, flags, _, offset, size, _, _, alignment, _) in enumerate(raw):
        text = _string(names, name)
        # Nothing unwinds through a kernel, so its unwind table is left out.
        if flags & ALLOC and kind in (PROGBITS, NOBITS) and text != ".eh_frame":
            body = b"" if kind == NOBITS else data[offset : offset + size]
            result.sections[index] = Section(text, kind, flags, max(alignment, 1), size, body)
    for index, (_, kind, _, _, _, _, link, target, _, _) in enumerate(raw):
        if kind == SYMTAB:
            result.symbols = _symbols(content(index), content(link))
        elif kind == RELOCATIONS and target in result.sections:
            for offset, info, addend in RELA.iter_unpack(content(index)):
                result.relocations.append(
                    Relocation(target, offset, info & 0xFFFFFFFF, info >> 32, addend)
                )
    return result


def _symbols(table: bytes, names: bytes) -> list[Symbol]:
    return [
        Symbol(_string(names, name), section, value, size, info & 15, info >> 4, other & 3)
        for name, info, other, section, value, size in SYMBOL.iter_unpack(table)
    ]


def _string(table: bytes, offset: int) -> str:
    return table[offset : table.index(b"\0", offset)].decode()
