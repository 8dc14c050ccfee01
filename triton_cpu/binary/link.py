# SPDX-License-Identifier: Apache-2.0
"""Makes a shared object of one relocatable object, so that no linker is needed on the machine.

The result is an ordinary ELF shared object that ``dlopen`` loads: three segments (read-only, code,
data), a dynamic symbol table with the object's global functions and the names it needs from
elsewhere, a global offset table and call stubs bound at load time.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from triton_cpu.binary import elf
from triton_cpu.binary.elf import Object, Symbol, UnsupportedObject, read_object
from triton_cpu.binary.machines import MACHINES, Machine

LIBRARIES = ("libm.so.6", "libc.so.6")
"""Named as needed by every object that calls something; both belong to glibc."""

_READ, _CODE, _DATA = 0, 1, 2
"""The segments, in the order in which they lie in the file."""
_SEGMENT_FLAGS = {_READ: 4, _CODE: 5, _DATA: 6}
_HEADERS = 64 + 5 * 56
_NEEDED, _HASH, _STRTAB, _SYMTAB, _RELA, _RELASZ, _RELAENT, _STRSZ, _SYMENT = (
    1, 4, 5, 6, 7, 8, 9, 10, 11,
)  # fmt: skip
_FLAGS, _BIND_NOW = 30, 8


@dataclass
class _Part:
    """A section of the result; ``address`` is also its offset in the file."""

    name: str
    kind: int
    flags: int
    alignment: int
    size: int
    data: bytes = b""
    entry: int = 0
    link: str = ""
    address: int = 0

    @property
    def segment(self) -> int:
        if self.flags & elf.EXECUTE:
            return _CODE
        return _DATA if self.flags & elf.WRITE else _READ


def link(data: bytes) -> bytes:
    """The shared object of the relocatable object ``data``.

    Raises:
        UnsupportedObject: a relocation or symbol that code of kernels never has.
    """
    return _Link(read_object(data)).write()


class _Link:
    """One linking, step by step: names, sizes, addresses, contents."""

    def __init__(self, source: Object) -> None:
        self.source = source
        self.machine: Machine = MACHINES[source.machine]
        self._find_names()
        self._lay_out()

    # -- what is needed ------------------------------------------------------------------------

    def _find_names(self) -> None:
        """The dynamic symbols, and which symbols want a GOT entry or a stub."""
        machine, symbols = self.machine, self.source.symbols
        self.got: dict[int, int] = {}
        self.stubs: dict[int, int] = {}
        dynamic_relocations = 0
        for item in self.source.relocations:
            symbol = symbols[item.symbol]
            if symbol.section in (elf.ABSOLUTE, elf.COMMON):
                raise UnsupportedObject(f"symbol {symbol.name} is absolute or common")
            if item.kind in machine.through_got:
                self.got.setdefault(item.symbol, len(self.got))
            elif item.kind == machine.absolute:
                dynamic_relocations += 1
            elif item.kind not in machine.direct:
                raise UnsupportedObject(f"relocation {item.kind} of {self.source.machine}")
            elif symbol.is_left_to_loader:
                if item.kind not in machine.calls:
                    raise UnsupportedObject(f"{symbol.name} is data of another library")
                self.got.setdefault(item.symbol, len(self.got))
                self.stubs.setdefault(item.symbol, len(self.stubs))
        self.dynamic_relocations = dynamic_relocations + len(self.got)
        used = {item.symbol for item in self.source.relocations}
        self.dynamic = [
            index
            for index, symbol in enumerate(symbols)
            if symbol.is_exported or (symbol.is_undefined and symbol.name and index in used)
        ]
        self.needs_libraries = any(symbols[index].is_undefined for index in self.dynamic)

    # -- where it goes -------------------------------------------------------------------------

    def _lay_out(self) -> None:
        names = bytearray(b"\0")
        self.name_at: dict[str, int] = {}
        libraries = LIBRARIES if self.needs_libraries else ()
        for text in [*libraries, *(self.source.symbols[i].name for i in self.dynamic)]:
            self.name_at[text] = len(names)
            names += text.encode() + b"\0"
        self.libraries = libraries
        count = len(self.dynamic) + 1
        alloc, write, execute = elf.ALLOC, elf.WRITE, elf.EXECUTE
        stub_size = len(self.machine.stub(0, 0))
        parts = [
            _Part(".hash", elf.HASH, alloc, 8, 4 * (2 + 1 + count), entry=4, link=".dynsym"),
            _Part(".dynsym", elf.DYNSYM, alloc, 8, 24 * count, entry=24, link=".dynstr"),
            _Part(".dynstr", elf.STRTAB, alloc, 1, len(names), bytes(names)),
            _Part(
                ".rela.dyn", elf.RELOCATIONS, alloc, 8, 24 * self.dynamic_relocations,
                entry=24, link=".dynsym",
            ),
            _Part(".plt", elf.PROGBITS, alloc | execute, 16, stub_size * len(self.stubs)),
            _Part(".got", elf.PROGBITS, alloc | write, 8, 8 * len(self.got)),
            _Part(
                ".dynamic", elf.DYNAMIC, alloc | write, 8, 16 * (len(libraries) + 10),
                entry=16, link=".dynstr",
            ),
        ]  # fmt: skip
        self.part = {part.name: part for part in parts}
        self.placed: dict[int, _Part] = {}
        for index, section in self.source.sections.items():
            self.placed[index] = _Part(
                section.name, section.kind, section.flags & 7, section.alignment,
                section.size, section.data,
            )  # fmt: skip
        parts += self.placed.values()
        # Within a segment, what takes no room in the file comes last.
        parts.sort(key=lambda part: (part.segment, part.kind == elf.NOBITS))
        address, segment = _HEADERS, _READ
        self.spans: dict[int, list[int]] = {_READ: [0, address, address]}
        for part in parts:
            if part.segment != segment:
                segment = part.segment
                page = self.machine.page
                address = (address + page - 1) // page * page
                self.spans[segment] = [address, address, address]
            address = -(-address // part.alignment) * part.alignment
            part.address = address
            address += part.size
            if part.kind != elf.NOBITS:
                self.spans[segment][1] = address
            self.spans[segment][2] = address
        self.parts = parts

    def _address(self, symbol: Symbol) -> int:
        place = self.placed.get(symbol.section)
        if place is None:
            raise UnsupportedObject(f"symbol {symbol.name!r} lies in a section that is not loaded")
        return place.address + symbol.value

    # -- what it holds -------------------------------------------------------------------------

    def write(self) -> bytes:
        end = max(span[1] for span in self.spans.values())
        image = bytearray(end)
        self._fill_tables()
        for part in self.parts:
            image[part.address : part.address + len(part.data)] = part.data
        self._patch(image)
        headers_at = self._append_section_headers(image)
        self._write_headers(image, headers_at)
        return bytes(image)

    def _fill_tables(self) -> None:
        symbols, machine = self.source.symbols, self.machine
        table = bytearray(24)
        order = {index: place + 1 for place, index in enumerate(self.dynamic)}
        section_number = {id(part): number + 1 for number, part in enumerate(self.parts)}
        for index in self.dynamic:
            symbol = symbols[index]
            info = symbol.binding << 4 | symbol.kind
            section, value = 0, 0
            if not symbol.is_undefined:
                section = section_number[id(self.placed[symbol.section])]
                value = self._address(symbol)
            name = self.name_at[symbol.name]
            table += elf.SYMBOL.pack(name, info, 0, section, value, symbol.size)
        self.part[".dynsym"].data = bytes(table)
        count = len(self.dynamic) + 1
        # One bucket; each symbol's chain goes to the one before it.
        chain = [0, *range(count - 1)]
        self.part[".hash"].data = struct.pack(f"<{3 + count}I", 1, count, count - 1, *chain)
        self.part[".plt"].data = b"".join(
            machine.stub(self._stub_address(index), self._entry_address(index))
            for index in self.stubs
        )
        entries = b""
        for index in self.got:
            symbol, place = symbols[index], self._entry_address(index)
            if symbol.is_left_to_loader:
                entries += elf.RELA.pack(place, order[index] << 32 | machine.got_entry, 0)
            else:
                entries += elf.RELA.pack(place, machine.relative, self._address(symbol))
        for item in self.source.relocations:
            if item.kind != machine.absolute:
                continue
            symbol = symbols[item.symbol]
            place = self.placed[item.section].address + item.offset
            if symbol.is_left_to_loader:
                info = order[item.symbol] << 32 | machine.absolute
                entries += elf.RELA.pack(place, info, item.addend)
            else:
                target = self._address(symbol) + item.addend
                entries += elf.RELA.pack(place, machine.relative, target)
        self.part[".rela.dyn"].data = entries
        pairs = [(_NEEDED, self.name_at[library]) for library in self.libraries]
        pairs += [
            (_HASH, self.part[".hash"].address),
            (_STRTAB, self.part[".dynstr"].address),
            (_SYMTAB, self.part[".dynsym"].address),
            (_STRSZ, self.part[".dynstr"].size),
            (_SYMENT, 24),
            (_RELA, self.part[".rela.dyn"].address),
            (_RELASZ, self.part[".rela.dyn"].size),
            (_RELAENT, 24),
            (_FLAGS, _BIND_NOW),
            (0, 0),
        ]
        self.part[".dynamic"].data = b"".join(struct.pack("<QQ", *pair) for pair in pairs)

    def _patch(self, image: bytearray) -> None:
        machine = self.machine
        for item in self.source.relocations:
            if item.kind == machine.absolute:
                continue
            place = self.placed[item.section].address + item.offset
            symbol = self.source.symbols[item.symbol]
            if item.kind in machine.through_got:
                patch, target = machine.through_got[item.kind], self._entry_address(item.symbol)
            elif symbol.is_left_to_loader:
                patch, target = machine.direct[item.kind], self._stub_address(item.symbol)
            else:
                patch, target = machine.direct[item.kind], self._address(symbol)
            patch(image, place, place, target + item.addend)

    def _entry_address(self, index: int) -> int:
        return self.part[".got"].address + 8 * self.got[index]

    def _stub_address(self, index: int) -> int:
        size = len(self.machine.stub(0, 0))
        return self.part[".plt"].address + size * self.stubs[index]

    def _append_section_headers(self, image: bytearray) -> int:
        """Sections are for people's tools (objdump, perf, gdb); the loader reads none."""
        names = bytearray(b"\0")
        number = {part.name: place + 1 for place, part in enumerate(self.parts)}
        headers = [bytes(64)]
        for part in self.parts:
            link = number.get(part.link, 0)
            headers.append(
                elf.SECTION_HEADER.pack(
                    len(names), part.kind, part.flags, part.address, part.address, part.size,
                    link, 1 if part.kind == elf.DYNSYM else 0, part.alignment, part.entry,
                )
            )  # fmt: skip
            names += part.name.encode() + b"\0"
        here = len(names)
        names += b".shstrtab\0"
        at = len(image)
        headers.append(elf.SECTION_HEADER.pack(here, elf.STRTAB, 0, 0, at, len(names), 0, 0, 1, 0))
        image += names
        image += bytes(-len(image) % 8)
        start = len(image)
        image += b"".join(headers)
        self.section_count = len(headers)
        return start

    def _write_headers(self, image: bytearray, sections_at: int) -> None:
        machine = self.machine
        programs = []
        for segment, (start, filled, end) in sorted(self.spans.items()):
            programs.append(
                (1, _SEGMENT_FLAGS[segment], start, filled - start, end - start, machine.page)
            )
        dynamic = self.part[".dynamic"]
        programs.append((2, 6, dynamic.address, dynamic.size, dynamic.size, 8))
        # PT_GNU_STACK: the stack need not be executable.
        programs.append((0x6474E551, 6, 0, 0, 0, 16))
        struct.pack_into(
            "<16sHHIQQQIHHHHHH", image, 0, b"\x7fELF\x02\x01\x01", 3, machine.number, 1, 0, 64,
            sections_at, 0, 64, 56, len(programs), 64, self.section_count, self.section_count - 1,
        )  # fmt: skip
        for place, (kind, flags, start, filled, size, alignment) in enumerate(programs):
            struct.pack_into(
                "<IIQQQQQQ", image, 64 + 56 * place,
                kind, flags, start, start, start, filled, size, alignment,
            )  # fmt: skip
