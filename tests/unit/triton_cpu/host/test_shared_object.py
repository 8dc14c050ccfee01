# SPDX-License-Identifier: Apache-2.0
"""What the linker writes loads and runs: in this process, and in a C++ program without Python."""

from __future__ import annotations

import ctypes
import math
import platform
import shutil
import subprocess
from pathlib import Path

import pytest
import torch
import triton
import triton.language as tl

from triton_cpu.binary.elf import UnsupportedObject, read_object
from triton_cpu.binary.link import link
from triton_cpu.binary.load import CannotLoad, load
from triton_cpu.binary.machines import MACHINES
from triton_cpu.binary.optimise import InvalidIR, compile_object
from triton_cpu.host import cpu

HERE = Path(__file__).parent

# Constant and writable data, zero-filled data, an address in data, a jump table, a call to another
# library, the address of one of its functions, and a call between functions of the object.
EVERYTHING = """
@table = private constant [4 x double] [double 1.0, double 2.0, double 4.0, double 8.0], align 16
@counter = internal global i64 40
@zeros = internal global [10000 x i8] zeroinitializer, align 64
@where = internal global ptr @counter
declare double @cbrt(double)
define internal double @look(i64 %i) noinline {
  %at = getelementptr double, ptr @table, i64 %i
  %value = load double, ptr %at
  ret double %value
}
define double @use(i64 %i) {
  %a = call double @look(i64 %i)
  %b = call double @cbrt(double %a)
  ret double %b
}
define i64 @count() {
  %place = load volatile ptr, ptr @where
  %old = load i64, ptr %place
  %new = add i64 %old, 1
  store i64 %new, ptr %place
  ret i64 %new
}
define i8 @zero(i64 %i) {
  %at = getelementptr i8, ptr @zeros, i64 %i
  %value = load i8, ptr %at
  store i8 1, ptr %at
  ret i8 %value
}
define ptr @address() { ret ptr @cbrt }
define i64 @choose(i64 %i, ptr %out) {
  switch i64 %i, label %none [
    i64 0, label %a
    i64 1, label %b
    i64 2, label %c
    i64 3, label %d
    i64 4, label %e
  ]
a: store volatile i8 1, ptr %out
   ret i64 10
b: store volatile i16 2, ptr %out
   ret i64 31
c: store volatile i32 3, ptr %out
   ret i64 72
d: store volatile i64 4, ptr %out
   ret i64 503
e: store volatile double 5.0, ptr %out
   ret i64 9
none: ret i64 -1
}
"""


def test_every_kind_of_reference_works(tmp_path: Path) -> None:
    path = tmp_path / "all.so"
    path.write_bytes(link(compile_object(EVERYTHING, cpu())))
    library = ctypes.CDLL(str(path))
    library.use.restype = ctypes.c_double
    library.address.restype = ctypes.c_void_p
    assert library.use(ctypes.c_int64(3)) == 2.0
    assert [library.count(), library.count()] == [41, 42]
    assert [library.zero(ctypes.c_int64(9999)), library.zero(ctypes.c_int64(9999))] == [0, 1]
    cube_root = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(library.address())
    assert math.isclose(cube_root(27.0), 3.0)
    out = ctypes.create_string_buffer(8)
    answers = [library.choose(ctypes.c_int64(i), out) for i in range(6)]
    assert answers == [10, 31, 72, 503, 9, -1]
    assert not hasattr(library, "look"), "what is internal is not exported"


def test_a_kernel_that_calls_what_nothing_offers_is_refused_by_name(own_cache: Path) -> None:
    ir = "declare void @nowhere()\ndefine void @k() {\n call void @nowhere()\n ret void\n}"
    binary = link(compile_object(ir, cpu()))
    with pytest.raises(CannotLoad, match="nowhere"):
        load("k", binary)


def test_what_is_no_object_is_refused() -> None:
    with pytest.raises(UnsupportedObject):
        read_object(b"\x7fELF" + bytes(100))


def test_bad_text_is_refused_with_llvms_words() -> None:
    with pytest.raises(InvalidIR, match="undefined_value"):
        compile_object("define i32 @k() { ret i32 %undefined_value }", cpu())


# Instructions with an empty field, with the field filled, and what the field refers to from
# address 0x10000 (encodings of the Arm Architecture Reference Manual, chapter C6).
AARCH64 = {
    "adrp x3": (275, 0x90000003, 0xB0000023, 0x15678),
    "add x1, x1, 0x678": (277, 0x91000021, 0x9119E021, 0x15678),
    "ldr x1, [x2, 0x678]": (286, 0xF9400041, 0xF9433C41, 0x15678),
    "ldr w1, [x2, 0x678]": (285, 0xB9400041, 0xB9467841, 0x15678),
    "ldr q1, [x2, 0x670]": (299, 0x3DC00041, 0x3DC19C41, 0x15670),
    "bl 0x5678": (283, 0x94000000, 0x9400159E, 0x15678),
    "b -0x5678": (282, 0x14000000, 0x17FFEA62, 0x10000 - 0x5678),
    "b.eq 0x678": (280, 0x54000000, 0x540033C0, 0x10678),
    "tbz x1, 3, 0x678": (279, 0x36180001, 0x361833C1, 0x10678),
    "adr x1, 0x677": (274, 0x10000001, 0x700033A1, 0x10677),
}


@pytest.mark.parametrize("instruction", AARCH64)
def test_an_aarch64_instruction_is_patched(instruction: str) -> None:
    kind, empty, filled, target = AARCH64[instruction]
    image = bytearray(empty.to_bytes(4, "little"))
    MACHINES["aarch64"].direct[kind](image, 0, 0x10000, target)
    assert int.from_bytes(image, "little") == filled


def test_a_reference_that_cannot_reach_is_an_error() -> None:
    with pytest.raises(UnsupportedObject, match="too large"):
        MACHINES["x86_64"].direct[2](bytearray(4), 0, 0, 1 << 31)


def test_an_aarch64_kernel_links() -> None:
    """The relocations that LLVM writes for aarch64 are all known to the linker."""
    llvm = pytest.importorskip("llvmlite.binding")
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    try:
        target = llvm.Target.from_triple("aarch64-unknown-linux-gnu")
    except RuntimeError:
        pytest.skip("this llvmlite has no aarch64")
    machine = target.create_target_machine(opt=3, reloc="pic", codemodel="small")
    module = llvm.parse_assembly(EVERYTHING)
    module.triple = "aarch64-unknown-linux-gnu"
    binary = link(machine.emit_object(module))
    assert binary[:4] == b"\x7fELF"
    assert int.from_bytes(binary[18:20], "little") == 183


@triton.jit
def weighted(x, out, n, factor, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n, other=0.0)
    tl.store(out + i, tl.exp(value) * factor, mask=i < n)


@pytest.mark.skipif(shutil.which("g++") is None, reason="no C++ compiler on this machine")
def test_a_cpp_program_launches_a_cached_kernel(tmp_path: Path) -> None:
    """The documented way: dlopen the cached object, fill slots, loop over program ids."""
    n = 1000
    x, out = torch.linspace(-2, 2, n), torch.empty(n)
    kernel = weighted.warmup(x, out, n, 1.5, BLOCK=128, grid=(1,))
    library = tmp_path / "weighted.so"
    library.write_bytes(kernel.asm["so"])
    program = tmp_path / "launch"
    subprocess.run(
        [
            "g++",
            "-O1",
            "-std=c++17",
            "-rdynamic",
            str(HERE / "launch.cpp"),
            "-o",
            str(program),
            "-ldl",
        ],
        check=True,
    )
    run = subprocess.run(
        [str(program), str(library), kernel.metadata.name, str(kernel.metadata.scratch_bytes)],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    got = torch.tensor([float(line) for line in run.stdout.split()])
    torch.testing.assert_close(got, torch.exp(x) * 1.5, rtol=1e-6, atol=0)


def test_the_machine_of_this_test_is_supported() -> None:
    assert platform.machine() in MACHINES
