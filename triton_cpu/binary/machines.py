# SPDX-License-Identifier: Apache-2.0
"""How each machine patches an address into code, and what its call stubs look like.

Sources: System V ABI, AMD64 supplement, table 4.10; ELF for the Arm 64-bit Architecture, section
"Relocation". Only what position-independent code of the small model contains is here.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass

from triton_cpu.binary.elf import UnsupportedObject

Patch = Callable[[bytearray, int, int, int], None]
"""patch(bytes of the file, offset, address of the place, target address plus addend)."""


@dataclass(frozen=True)
class Machine:
    """The relocations of one instruction set."""

    number: int
    """ELF's e_machine."""
    page: int
    """The largest page size its systems use."""
    absolute: int
    """The relocation that stores a whole address; it stays for the dynamic linker."""
    got_entry: int
    """The dynamic relocation of a global offset table's entry."""
    relative: int
    """The dynamic relocation that adds the load address."""
    direct: dict[int, Patch]
    """Relocations against the symbol itself."""
    through_got: dict[int, Patch]
    """Relocations against the symbol's entry in the global offset table."""
    calls: frozenset[int]
    """Those of ``direct`` that may go to a stub when the symbol is elsewhere."""
    stub: Callable[[int, int], bytes]
    """stub(its address, address of the GOT entry) jumps to where the entry points."""


def _signed(value: int, bits: int, what: str) -> int:
    if not -(1 << (bits - 1)) <= value < 1 << (bits - 1):
        raise UnsupportedObject(f"the kernel is too large: a {what} does not reach its target")
    return value & ((1 << bits) - 1)


def _relative(bits: int) -> Patch:
    """The distance from the place, as a plain integer."""

    def patch(image: bytearray, offset: int, place: int, target: int) -> None:
        distance = _signed(target - place, bits, "reference")
        image[offset : offset + bits // 8] = distance.to_bytes(bits // 8, "little")

    return patch


def _instruction(bits: Callable[[int, int], int]) -> Patch:
    """Sets bits of an aarch64 instruction, whose field is still zero."""

    def patch(image: bytearray, offset: int, place: int, target: int) -> None:
        (word,) = struct.unpack_from("<I", image, offset)
        struct.pack_into("<I", image, offset, word | bits(place, target))

    return patch


def _adr(distance: int) -> int:
    return (distance & 3) << 29 | (distance >> 2 & 0x7FFFF) << 5


def _page_distance(place: int, target: int) -> int:
    return _adr(_signed((target >> 12) - (place >> 12), 21, "page address"))


def _low12(shift: int) -> Patch:
    return _instruction(lambda place, target: ((target & 0xFFF) >> shift) << 10)


def _branch(bits: int, at: int) -> Patch:
    return _instruction(
        lambda place, target: (_signed(target - place, bits + 2, "branch") >> 2) << at
    )


def _x86_stub(address: int, entry: int) -> bytes:
    # jmp *entry(%rip)
    return b"\xff\x25" + struct.pack("<i", entry - address - 6) + b"\xcc\xcc"


def _aarch64_stub(address: int, entry: int) -> bytes:
    # adrp x16, entry; ldr x17, [x16, low 12 bits of entry]; br x17; nop
    words = (
        0x90000010 | _page_distance(address, entry),
        0xF9400211 | (entry & 0xFFF) >> 3 << 10,
        0xD61F0220,
        0xD503201F,
    )
    return struct.pack("<4I", *words)


MACHINES = {
    "x86_64": Machine(
        number=62,
        page=0x1000,
        absolute=1,
        got_entry=6,
        relative=8,
        direct={2: _relative(32), 4: _relative(32), 24: _relative(64)},
        through_got={9: _relative(32), 41: _relative(32), 42: _relative(32)},
        calls=frozenset({4}),
        stub=_x86_stub,
    ),
    "aarch64": Machine(
        number=183,
        page=0x10000,
        absolute=257,
        got_entry=1025,
        relative=1027,
        direct={
            260: _relative(64),
            261: _relative(32),
            262: _relative(16),
            274: _instruction(lambda place, target: _adr(_signed(target - place, 21, "address"))),
            275: _instruction(_page_distance),
            277: _low12(0),
            278: _low12(0),
            279: _branch(14, 5),
            280: _branch(19, 5),
            282: _branch(26, 0),
            283: _branch(26, 0),
            284: _low12(1),
            285: _low12(2),
            286: _low12(3),
            299: _low12(4),
        },
        through_got={311: _instruction(_page_distance), 312: _low12(3)},
        calls=frozenset({282, 283}),
        stub=_aarch64_stub,
    ),
}
